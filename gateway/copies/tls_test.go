package copies_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gateway/copies"
)

// authority signs certificates.
type authority struct {
	testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

func newAuthority(t testing.TB, name string) *authority {
	a := &authority{TB: t}
	a.key = must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der := must(x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key))
	a.cert = must(x509.ParseCertificate(der))
	a.file = write(t, "ca.pem", "CERTIFICATE", der)
	return a
}

// issue returns the files of a certificate for a name.
func (a *authority) issue(name string, until time.Time) (cert, key string) {
	k := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		NotBefore:   time.Now().Add(-2 * time.Hour), NotAfter: until,
	}
	der := must(x509.CreateCertificate(rand.Reader, template, a.cert, k.Public(), a.key))
	return write(a, "cert.pem", "CERTIFICATE", der), write(a, "key.pem", "PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(k)))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func write(t testing.TB, name, kind string, b []byte) string {
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// secure runs a service that shows the certificate, and asks for one that clients
// signs if that is not nil.
func secure(t testing.TB, cert, key string, clients *authority) *url.URL {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Proto", r.Proto)
	}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{must(tls.LoadX509KeyPair(cert, key))}}
	if clients != nil {
		s.TLS.ClientAuth = tls.RequireAndVerifyClientCert
		s.TLS.ClientCAs = x509.NewCertPool()
		s.TLS.ClientCAs.AddCert(clients.cert)
	}
	s.EnableHTTP2 = true
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return must(url.Parse(s.URL))
}

func TestTLSToACopy(t *testing.T) {
	ours, others := newAuthority(t, "ours"), newAuthority(t, "others")
	later := time.Now().Add(time.Hour)
	cert, key := ours.issue("app.internal", later)
	expired, expiredKey := ours.issue("app.internal", time.Now().Add(-time.Hour))
	clientCert, clientKey := others.issue("gateway", later)
	strangerCert, strangerKey := ours.issue("stranger", later)
	plain := serve(t, nil).url()
	plain.Scheme = "https"

	well := secure(t, cert, key, nil)
	old := secure(t, expired, expiredKey, nil)
	asking := secure(t, cert, key, others)
	for _, tt := range []struct {
		name string
		url  *url.URL
		tls  copies.TLS
		want string // of the error; empty: it works
	}{
		{"the right authority and name", well, copies.TLS{CA: ours.file, ServerName: "app.internal"}, ""},
		{"TLS 1.3 alone", well, copies.TLS{CA: ours.file, ServerName: "app.internal", MinVersion: tls.VersionTLS13}, ""},
		{"another authority", well, copies.TLS{CA: others.file, ServerName: "app.internal"}, "signed by nobody who is trusted; name who signs it with tls: { ca: FILE }"},
		{"the system's authorities", well, copies.TLS{ServerName: "app.internal"}, "signed by nobody who is trusted"},
		{"another name", well, copies.TLS{CA: ours.file, ServerName: "web.internal"}, "not for web.internal; set tls: { server_name: NAME }"},
		{"no name, and the certificate has no address", well, copies.TLS{CA: ours.file}, "not for 127.0.0.1"},
		{"expired", old, copies.TLS{CA: ours.file, ServerName: "app.internal"}, "has expired"},
		{"it speaks no TLS", plain, copies.TLS{CA: ours.file}, "does not speak TLS; begin its URL with http://"},
		{"a client certificate", asking, copies.TLS{CA: ours.file, ServerName: "app.internal", Cert: clientCert, Key: clientKey}, ""},
		{"none where one is asked for", asking, copies.TLS{CA: ours.file, ServerName: "app.internal"}, "asks for a certificate"},
		{"one of somebody else", asking, copies.TLS{CA: ours.file, ServerName: "app.internal", Cert: strangerCert, Key: strangerKey}, "certificate"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := set(t, copies.Config{URLs: []*url.URL{tt.url}, TLS: tt.tls})
			_, err := call(t, s, soon)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v; want %q", err, tt.want)
			}
		})
	}
}

func TestFilesOfTLSThatCannotBeUsed(t *testing.T) {
	a := newAuthority(t, "ours")
	cert, key := a.issue("app", time.Now().Add(time.Hour))
	_, other := a.issue("app", time.Now().Add(time.Hour))
	u := []*url.URL{parse(t, "https://127.0.0.1:1")}
	for _, tt := range []struct {
		tls  copies.TLS
		want string
	}{
		{copies.TLS{CA: "missing.pem"}, "tls.ca: stat missing.pem"},
		{copies.TLS{CA: key}, "holds no certificate"},
		{copies.TLS{CA: t.TempDir()}, "is no regular file"},
		{copies.TLS{Cert: cert, Key: other}, "the key that belongs to it"},
		{copies.TLS{Cert: cert, Key: "missing.pem"}, "tls.key: stat missing.pem"},
	} {
		if _, err := copies.New(copies.Config{Name: "app", URLs: u, TLS: tt.tls}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v; want %q", tt.tls, err, tt.want)
		}
	}
}

func TestHTTP2WhereBothSpeakIt(t *testing.T) {
	a := newAuthority(t, "ours")
	cert, key := a.issue("app", time.Now().Add(time.Hour))
	s := set(t, copies.Config{URLs: []*url.URL{secure(t, cert, key, nil)}, TLS: copies.TLS{CA: a.file, ServerName: "app"}})
	c, _ := s.Take(nil)
	defer c.Done()
	res, err := c.Transport(true).RoundTrip(must(http.NewRequest("GET", c.Base().String(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if got := res.Header.Get("Proto"); got != "HTTP/2.0" {
		t.Errorf("spoken: %s", got)
	}
	bare, err := c.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer bare.Close()
	if got := bare.(*tls.Conn).ConnectionState().NegotiatedProtocol; got == "h2" {
		t.Errorf("a bare connection speaks %q", got)
	}
}
