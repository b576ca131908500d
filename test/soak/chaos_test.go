package soak_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	mrand "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// quit is whoever asks and does not wait for the answer: with a whole request,
// half a header, half a body, and in TLS.
func quit(ctx context.Context, addr string) {
	texts := []string{
		"GET /quit HTTP/1.1\r\nHost: x\r\nX-Tenant: quitter\r\n\r\n",
		"GET /quit HTTP/1.1\r\nHo",
		"POST /quit HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nhalf",
		"POST /quit HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
		"GET /quit HTTP/1.1\r\nHost: x\r\nTE: trailers\r\n\r\n",
	}
	for ctx.Err() == nil {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
		if err != nil {
			continue
		}
		io.WriteString(c, texts[mrand.IntN(len(texts))])
		pause(ctx, time.Duration(mrand.Int64N(int64(3*serviceTime))))
		if mrand.IntN(2) == 0 {
			c.(*net.TCPConn).SetLinger(0) // with a reset
		}
		c.Close()
	}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// pairs are certificates of two authorities; a file holds one of them at a time.
type pairs struct {
	cert, key string
	text      [2][2][]byte
	roots     *x509.CertPool
}

func newPairs(t *testing.T) *pairs {
	t.Helper()
	dir := t.TempDir()
	p := &pairs{cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem"), roots: x509.NewCertPool()}
	for i := range p.text {
		private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		template := &x509.Certificate{
			SerialNumber: big.NewInt(int64(i + 1)), Subject: pkix.Name{CommonName: fmt.Sprint("pair ", i)}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		}
		der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
		if err != nil {
			t.Fatal(err)
		}
		secret, err := x509.MarshalPKCS8PrivateKey(private)
		if err != nil {
			t.Fatal(err)
		}
		parsed, _ := x509.ParseCertificate(der)
		p.roots.AddCert(parsed)
		p.text[i] = [2][]byte{
			pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
			pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
		}
	}
	p.turn(t, 0)
	return p
}

// turn replaces both files, each at once.
func (p *pairs) turn(t *testing.T, n int) {
	for i, path := range []string{p.cert, p.key} {
		if err := os.WriteFile(path+".new", p.text[n%2][i], 0o600); err != nil {
			t.Error(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Error(err)
		}
	}
}

// greet opens one TLS connection after another. Each handshake must succeed,
// whichever certificate it meets; both must be met.
func greet(ctx context.Context, t *testing.T, addr string, roots *x509.CertPool, met *[2]atomic.Int64) {
	for ctx.Err() == nil {
		d := tls.Dialer{Config: &tls.Config{RootCAs: roots}}
		c, err := d.DialContext(ctx, "tcp", addr)
		if err != nil {
			if ctx.Err() == nil {
				t.Errorf("a handshake failed: %v", err)
			}
			return
		}
		name := c.(*tls.Conn).ConnectionState().PeerCertificates[0].Subject.CommonName
		met[strings.Index("01", name[len(name)-1:])].Add(1)
		io.WriteString(c, "GET /tls HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		c.SetReadDeadline(time.Now().Add(soon))
		io.Copy(io.Discard, c)
		c.Close()
		pause(ctx, 50*time.Millisecond)
	}
}
