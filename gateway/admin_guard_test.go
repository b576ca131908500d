package gateway_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
)

// TestAdminToken: who has the token may ask, and nobody else but for health.
func TestAdminToken(t *testing.T) {
	const token = "correct horse battery staple"
	sum := sha256.Sum256([]byte(token))
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for form, text := range map[string]string{ // order does not matter: they are tests of their own
		"hashed": "sha256:" + hex.EncodeToString(sum[:]), "from a file": "file:" + file,
	} {
		t.Run(form, func(t *testing.T) {
			h := start(t, fmt.Sprintf("admin: { address: \"127.0.0.1:9900\", token: %q, hosts: [gate.internal] }\n  all: { slots: 1 }", text), nil)
			for _, tt := range []struct {
				name, method, path, host, auth, origin string
				status                                 int
			}{
				{"with it", "GET", "/metrics", "", "Bearer " + token, "", 200},
				{"in another case", "GET", "/metrics", "", "bearer " + token, "", 200},
				{"without", "GET", "/metrics", "", "", "", 401},
				{"wrong", "GET", "/metrics", "", "Bearer " + token + "x", "", 401},
				{"cut short", "GET", "/metrics", "", "Bearer " + token[:20], "", 401},
				{"its hash", "GET", "/metrics", "", "Bearer " + text, "", 401},
				{"another scheme", "GET", "/metrics", "", "Basic " + token, "", 401},
				{"health", "GET", "/livez", "", "", "", 200},
				{"readiness", "GET", "/readyz", "", "", "", 200},
				{"what is not there", "GET", "/nothing", "", "", "", 401},
				{"a name that is ours", "GET", "/metrics", "gate.internal:9900", "Bearer " + token, "", 200},
				{"a name that is not (DNS rebinding)", "GET", "/metrics", "evil.example", "Bearer " + token, "", 421},
				{"a page's doing (CSRF)", "POST", "/reload", "", "Bearer " + token, "https://evil.example", 403},
			} {
				t.Run(tt.name, func(t *testing.T) {
					req, _ := http.NewRequest(tt.method, h.admin+tt.path, nil)
					req.Host = tt.host
					for name, v := range map[string]string{"Authorization": tt.auth, "Origin": tt.origin} { // order does not matter: they are different fields
						if v != "" {
							req.Header.Set(name, v)
						}
					}
					res, err := read(h.client.Do(req))
					if err != nil || res.StatusCode != tt.status {
						t.Errorf("%v %s, %v; want %d", res.Response, res.body, err, tt.status)
					}
					if challenge := res.Header.Get("WWW-Authenticate"); (challenge != "") != (tt.status == 401) {
						t.Errorf("challenge %q", challenge)
					}
				})
			}
		})
	}
	t.Run("health is closed where it is to be", func(t *testing.T) {
		h := start(t, "admin: { address: \"127.0.0.1:9900\", open_health: off, token: \""+token+"\" }\n  all: { slots: 1 }", nil)
		if res := h.adminGet("/livez"); res.StatusCode != 401 {
			t.Errorf("answered %d", res.StatusCode)
		}
	})
	t.Run("undefended", func(t *testing.T) {
		h := start(t, "  all: { slots: 1 }", nil)
		if res := h.adminGet("/metrics"); res.StatusCode != 200 {
			t.Errorf("answered %d", res.StatusCode)
		}
	})
}

// TestAdminBeyondLoopback: it does not come up where anybody could ask it.
func TestAdminBeyondLoopback(t *testing.T) {
	for _, tt := range []struct{ admin, want string }{
		{`{ address: "0.0.0.0:0" }`, "asks for no login"},
		{`{ address: "0.0.0.0:0", insecure: on }`, ""},
		{`{ address: "0.0.0.0:0", token: "correct horse battery staple" }`, ""},
	} {
		err := refusesToParse(t, tt.admin)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v; want %q", tt.admin, err, tt.want)
		}
	}
	// A program that brings a listener of its own is held to the same.
	open := listenAt(t, "0.0.0.0:0")
	if err := serveWith(t, open); err == nil || !strings.Contains(err.Error(), "asks for no login") {
		t.Errorf("it came up: %v", err)
	}
}

func refusesToParse(t *testing.T, admin string) error {
	t.Helper()
	_, err := config.Parse("test.yaml", []byte("admin: "+admin+"\nupstreams: { app: { url: \"http://127.0.0.1:1\" } }\nclasses: { all: {} }\n"))
	return err
}

func listenAt(t *testing.T, address string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// serveWith returns why a gateway with that admin listener does not come up.
func serveWith(t *testing.T, admin net.Listener) error {
	t.Helper()
	cfg, err := config.ForUpstream("http://127.0.0.1:1", 1)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(cfg, gateway.Options{Listener: listen(t), AdminListener: admin, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	return g.Serve(ctx)
}
