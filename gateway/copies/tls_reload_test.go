package copies

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Files that have changed are read again; files that cannot be used change
// nothing, and are told of once.
func TestChangedFilesAreReadAgain(t *testing.T) {
	const ca = "-----BEGIN CERTIFICATE-----\nMIIBdjCCAR2gAwIBAgIUQj7UoBo3V2Y9mZt0Gmc6zH2Xk2MwCgYIKoZIzj0EAwIw\n"
	path := filepath.Join(t.TempDir(), "ca.pem")
	put := func(text string, age time.Duration) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		os.Chtimes(path, at, at)
	}
	good := string(testCA(t))
	put(good, time.Hour)
	var log strings.Builder
	c, err := newCertificates(TLS{CA: path}, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	before := c.config("h", nil, new(atomic.Bool)).RootCAs
	look := func() { c.looked = time.Time{} }

	put(ca, time.Minute) // cut off halfway
	for range 3 {
		look()
		if got := c.config("h", nil, new(atomic.Bool)).RootCAs; got != before {
			t.Fatal("a file that cannot be read took the place of one that could")
		}
	}
	if n := strings.Count(log.String(), "cannot be used"); n != 1 {
		t.Errorf("told %d times:\n%s", n, log.String())
	}
	put(good, time.Second)
	look()
	if got := c.config("h", nil, new(atomic.Bool)).RootCAs; got == before {
		t.Error("not read again")
	}
}

// testCA is a certificate in PEM.
func testCA(t *testing.T) []byte {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
