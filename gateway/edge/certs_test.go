package edge_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gateway/edge"
)

// pair is a certificate of its own authority, in PEM.
type pair struct{ cert, key []byte }

func newPair(t *testing.T, name string, until time.Duration) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(until),
		IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pair{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})}
}

func (p pair) tls(t *testing.T) tls.Certificate {
	t.Helper()
	c, err := tls.X509KeyPair(p.cert, p.key)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func put(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// handshake returns the name in the server's certificate.
func handshake(t *testing.T, c *edge.Certificates, client *tls.Config) (name string, err error) {
	t.Helper()
	l := listen(t, nil, edge.Options{})
	near := dial(t, l)
	server := tls.Server(accept(t, l), c.Config())
	done := make(chan error, 1)
	go func() {
		err := server.Handshake()
		if err != nil {
			server.Close()
		}
		done <- err
	}()
	client.InsecureSkipVerify = true
	k := tls.Client(near, client)
	if err := k.Handshake(); err != nil {
		near.Close()
		<-done
		return "", err
	}
	return k.ConnectionState().PeerCertificates[0].Subject.CommonName, <-done
}

func TestCertificatesReload(t *testing.T) {
	dir := t.TempDir()
	f := edge.Files{Cert: filepath.Join(dir, "c.pem"), Key: filepath.Join(dir, "k.pem")}
	one, two := newPair(t, "one", time.Hour), newPair(t, "two", time.Hour)
	put(t, f.Cert, one.cert)
	put(t, f.Key, one.key)
	c, err := edge.LoadCertificates(f)
	if err != nil {
		t.Fatal(err)
	}
	serves := func(say, want string) {
		t.Helper()
		if got, err := handshake(t, c, &tls.Config{}); got != want || err != nil {
			t.Errorf("%s: serves %q, %v; want %q", say, got, err, want)
		}
	}
	serves("at first", "one")
	if changed, err := c.Reload(); changed || err != nil {
		t.Errorf("nothing changed: %v, %v", changed, err)
	}

	for _, broken := range []struct {
		say       string
		cert, key []byte
		why       string
	}{
		{"half of a new pair", two.cert, one.key, "are no pair"},
		{"not PEM", []byte("x"), one.key, "are no pair"},
		{"expired", newPair(t, "late", -time.Hour).cert, one.key, "are no pair"},
		{"huge", make([]byte, 2<<20), one.key, "larger than 1 MiB"},
	} {
		put(t, f.Cert, broken.cert)
		put(t, f.Key, broken.key)
		if changed, err := c.Reload(); changed || err == nil || !strings.Contains(err.Error(), broken.why) {
			t.Errorf("%s: %v, %v; want %q", broken.say, changed, err, broken.why)
		}
		serves(broken.say, "one")
	}
	late := newPair(t, "late", -time.Hour)
	put(t, f.Cert, late.cert)
	put(t, f.Key, late.key)
	if _, err := c.Reload(); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("an expired pair: %v", err)
	}
	os.Remove(f.Cert)
	if _, err := c.Reload(); err == nil {
		t.Error("a file that is gone is no error")
	}
	serves("with the file gone", "one")

	put(t, f.Cert, two.cert)
	put(t, f.Key, two.key)
	if changed, err := c.Reload(); !changed || err != nil {
		t.Errorf("a new pair: %v, %v", changed, err)
	}
	serves("with both", "two")
}

// A certificate that is mounted as a link that moves, as orchestrators do it, is
// seen as well, and what cannot be used is said once.
func TestCertificatesWatch(t *testing.T) {
	dir := t.TempDir()
	one, two := newPair(t, "one", time.Hour), newPair(t, "two", time.Hour)
	for name, p := range map[string]pair{"one": one, "two": two} { // order does not matter: they are two folders
		os.Mkdir(filepath.Join(dir, name), 0o700)
		put(t, filepath.Join(dir, name, "c.pem"), p.cert)
		put(t, filepath.Join(dir, name, "k.pem"), p.key)
	}
	point := func(to string) {
		os.Symlink(to, filepath.Join(dir, "next"))
		os.Rename(filepath.Join(dir, "next"), filepath.Join(dir, "now"))
	}
	point("one")
	c, err := edge.LoadCertificates(edge.Files{Cert: filepath.Join(dir, "now", "c.pem"), Key: filepath.Join(dir, "now", "k.pem")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	told, done := make(chan error), make(chan struct{})
	go func() {
		defer close(done)
		c.Watch(ctx, time.Millisecond, func(err error) { told <- err })
	}()
	point("nowhere")
	if err := <-told; err == nil {
		t.Error("a link to nowhere was taken for a change")
	}
	point("two")
	if err := <-told; err != nil {
		t.Error(err)
	}
	cancel()
	<-done
}

func TestClientCertificates(t *testing.T) {
	dir := t.TempDir()
	f := edge.Files{Cert: filepath.Join(dir, "c.pem"), Key: filepath.Join(dir, "k.pem"), ClientCA: filepath.Join(dir, "ca.pem")}
	own, friend, stranger := newPair(t, "own", time.Hour), newPair(t, "friend", time.Hour), newPair(t, "stranger", time.Hour)
	put(t, f.Cert, own.cert)
	put(t, f.Key, own.key)
	put(t, f.ClientCA, []byte("no certificate"))
	if _, err := edge.LoadCertificates(f); err == nil {
		t.Error("a bundle without a certificate would let nobody in, and was taken")
	}
	put(t, f.ClientCA, friend.cert)
	for _, tt := range []struct {
		say      string
		optional bool
		client   []tls.Certificate
		version  uint16
		ok       bool
	}{
		{"required, and there", false, []tls.Certificate{friend.tls(t)}, 0, true},
		{"required, and missing", false, nil, 0, false},
		{"required, and somebody else's", false, []tls.Certificate{stranger.tls(t)}, 0, false},
		{"requested, and missing", true, nil, 0, true},
		{"requested, and somebody else's", true, []tls.Certificate{stranger.tls(t)}, 0, false},
		{"an old version", true, nil, tls.VersionTLS11, false},
	} {
		f.ClientOptional = tt.optional
		c, err := edge.LoadCertificates(f)
		if err != nil {
			t.Fatal(err)
		}
		// A client sends its certificate whatever the server asked for.
		send := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if len(tt.client) == 0 {
				return new(tls.Certificate), nil
			}
			return &tt.client[0], nil
		}
		_, err = handshake(t, c, &tls.Config{GetClientCertificate: send, MaxVersion: tt.version, MinVersion: tls.VersionTLS10})
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.say, err)
		}
	}
}
