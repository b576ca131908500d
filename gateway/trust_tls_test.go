package gateway_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
)

// clientCertificate makes a certificate of that name that is its own authority,
// and a file of it.
func clientCertificate(t *testing.T, name string) (tls.Certificate, string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "client.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}, path
}

// Only a certificate that the listener has verified is a proof, over HTTP/1.1
// and HTTP/2.
func TestAClientCertificateProvesWhoItIs(t *testing.T) {
	cert, key, pool := certificate(t)
	edge, authority := clientCertificate(t, "edge-1")
	h := start(t, fmt.Sprintf("tls: { cert: %q, key: %q, client_ca: %q, client_auth: request }\ntrust: { mtls: { name: cn }, roles: { edge: { members: [\"mtls:edge-*\"], tenant: house } } }\n%s", cert, key, authority,
		"  all: { tenant: { key: identity, policy: wrr } }\n"), toldOf)
	ask := func(proto2 bool, certs ...tls.Certificate) {
		t.Helper()
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: certs}, ForceAttemptHTTP2: proto2}
		defer transport.CloseIdleConnections()
		res, err := read((&http.Client{Transport: transport}).Get("https://" + h.addr))
		if err != nil {
			t.Fatal(err)
		}
		want(t, res, 200, "served", "primary")
	}
	ask(false, edge)
	ask(true, edge)
	ask(false)
	if n := h.tenants("all"); n["house"] != 2 || n[""] != 1 {
		t.Errorf("tenants %v; two with the certificate, one without", n)
	}
	stranger, _ := clientCertificate(t, "edge-2")
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{stranger}}}
	defer transport.CloseIdleConnections()
	if _, err := read((&http.Client{Transport: transport}).Get("https://" + h.addr)); err == nil {
		if n := h.tenants("all"); n["house"] != 2 {
			t.Errorf("a certificate that nobody signed is worth %v", n)
		}
	}
}

// A reload changes who is believed from the next request on, keeps what was
// counted, and leaves every client's bucket as it was. One whose files cannot be
// read changes nothing.
func TestTrustIsReloaded(t *testing.T) {
	path, key := apiKeys(t, "acme", "")
	upstream := serviceAt(t, toldOf)
	text := func(trust string) string {
		return fmt.Sprintf("version: 1\nupstreams: { app: { url: %q } }\nclients: { rate: { burst: 4, per_second: 0.001 } }\ntrust: { proxies: { from: [127.0.0.0/8] }, %s }\nclasses: { all: { tenant: { key: \"header:X-Tenant\", policy: wrr } } }\n", upstream, trust)
	}
	now := text("tenant: none")
	load := func() (*config.Config, error) { return config.Parse("test.yaml", []byte(now)) }
	cfg, err := load()
	if err != nil {
		t.Fatal(err)
	}
	h := startConfig(t, cfg, func(o *gateway.Options) { o.Load = load })
	ask := func(status int, why string) {
		t.Helper()
		rung := "primary"
		if status != 200 {
			rung = "refusal"
		}
		want(t, h.get("/", "X-Forwarded-For", "203.0.113.7", "X-Api-Key", key), status, why, rung)
	}
	ask(200, "served")
	now = text("tenant: none, keys: { file: " + path + " }")
	if _, err := h.Reload("test"); err != nil {
		t.Fatal(err)
	}
	ask(200, "served")
	if n := h.tenants("all"); n[""] != 1 || n["acme"] != 1 {
		t.Errorf("tenants %v", n)
	}
	now = text("keys: { file: /nowhere/keys.json }")
	if _, err := h.Reload("test"); err == nil {
		t.Error("a file that is not there was taken")
	}
	ask(200, "served")
	now = text("tenant: any")
	for range 3 {
		if _, err := h.Reload("test"); err != nil {
			t.Fatal(err)
		}
	}
	ask(200, "served")
	ask(429, "rate_limited") // four reloads have filled no bucket
}
