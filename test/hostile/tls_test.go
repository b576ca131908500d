package hostile_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// TestOldTLS: who speaks nothing newer than TLS 1.1 is not spoken to. A server that
// allows it takes the same greeting.
func TestOldTLS(t *testing.T) {
	lax := httptest.NewUnstartedServer(nil)
	lax.TLS = &tls.Config{MinVersion: tls.VersionTLS10}
	lax.Config.ErrorLog = log.New(io.Discard, "", 0)
	lax.StartTLS()
	defer lax.Close()
	cert, key := write(t, lax.TLS.Certificates[0])
	g := stand(t, record(t).addr, fmt.Sprintf("tls: { cert: %q, key: %q }", cert, key))
	for _, tt := range []struct {
		version uint16
		taken   bool
	}{
		{tls.VersionTLS10, false},
		{tls.VersionTLS11, false},
		{tls.VersionTLS12, true},
		{tls.VersionTLS13, true},
	} {
		t.Run(tls.VersionName(tt.version), func(t *testing.T) {
			greet := func(addr string) error {
				c, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true, MinVersion: tt.version, MaxVersion: tt.version})
				if err == nil {
					c.Close()
				}
				return err
			}
			if err := greet(g.addr); (err == nil) != tt.taken {
				t.Errorf("the gateway: %v", err)
			}
			if err := greet(lax.Listener.Addr().String()); err != nil {
				t.Errorf("undefended, it is refused all the same: %v", err)
			}
		})
	}
}

// write writes a certificate and its key where a configuration can name them.
func write(t *testing.T, c tls.Certificate) (cert, key string) {
	t.Helper()
	secret, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, b := range map[string]*pem.Block{ // order does not matter: they are two files
		cert: {Type: "CERTIFICATE", Bytes: c.Certificate[0]}, key: {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}
