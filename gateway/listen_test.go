package gateway_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
)

// TestSeveralListeners: one gateway on a unix socket and on TLS, behind a balancer
// that names its callers, with the admin listener on a socket of its own. The
// certificate changes while a connection is open, which goes on.
func TestSeveralListeners(t *testing.T) {
	dir := t.TempDir()
	cert, key, pool := certificate(t)
	service := serviceAt(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s", r.Header.Get("X-Forwarded-For"), r.Header.Get("X-Forwarded-Proto"))
	})
	free := listen(t)
	secure := free.Addr().String()
	free.Close()
	text := fmt.Sprintf(`
listen:
  - { address: "unix:%[1]s/front.sock", mode: "0600", proxy_protocol: [unix] }
  - { address: %[2]q, tls: { cert: %[3]q, key: %[4]q } }
admin: "unix:%[1]s/admin.sock"
upstreams: { app: { url: %[5]q } }
classes: { all: {} }
`, dir, secure, cert, key, service)
	cfg, err := config.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(cfg, gateway.Options{Logger: slog.New(slog.DiscardHandler), DrainLimit: soon})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.Serve(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(filepath.Join(dir, "front.sock")); err == nil {
			t.Error("the socket's file is still there")
		}
	}()

	over := func(socket, first string) *http.Client {
		return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
			c, err := net.Dial("unix", filepath.Join(dir, socket))
			if err == nil {
				io.WriteString(c, first)
			}
			return c, err
		}}}
	}
	until(t, "it serves", func() bool {
		res, err := read(over("admin.sock", "").Get("http://localhost/readyz"))
		return err == nil && res.StatusCode == 200
	})
	if info, err := os.Stat(filepath.Join(dir, "admin.sock")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the admin socket: %v, %v", info, err)
	}
	res, err := read(over("front.sock", "PROXY TCP4 192.0.2.9 192.0.2.1 1000 80\r\n").Get("http://x/"))
	if err != nil || res.body != "192.0.2.9 http" {
		t.Errorf("behind a balancer: %q, %v", res.body, err)
	}
	if _, err := read(over("front.sock", "").Get("http://x/")); err == nil {
		t.Error("a balancer that names nobody was served")
	}

	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	defer client.CloseIdleConnections()
	ask := func(say string, c *http.Client, want bool) {
		t.Helper()
		res, err := read(c.Get("https://" + secure + "/"))
		if (err == nil && res.body == "127.0.0.1 https") != want {
			t.Errorf("%s: %q, %v", say, res.body, err)
		}
	}
	ask("over TLS", client, true)
	newCert, newKey, newPool := certificate(t)
	rename := func(from, to string) {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	rename(newCert, cert)
	g.ReloadCertificates()
	fresh := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: newPool}, DisableKeepAlives: true}}
	ask("with half of a new pair the old one serves", fresh, false)
	rename(newKey, key)
	g.ReloadCertificates()
	ask("with both the new one does", fresh, true)
	ask("and the connection that was open goes on", client, true)
}
