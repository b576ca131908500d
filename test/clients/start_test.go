package clients

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/test/provider"
	"github.com/spillway-dev/spillway/trust"
)

const theirs = "sk-the-providers-own-key"

// gate is a gateway in front of a provider, and a key for it.
type gate struct{ url, key string }

// start runs a gateway that asks for a key of its own.
func start(t testing.TB, p *provider.Server, kind, more string) gate {
	t.Helper()
	file := filepath.Join(t.TempDir(), "keys.json")
	key, entry := trust.NewKey("ci", "acme", "", time.Now(), nil)
	if err := (&trust.KeyFile{Version: 1, Keys: []trust.Entry{entry}}).Save(file); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`version: 1
upstreams: { llm: { url: %q, provider: { kind: %s, key: %q } } }
trust: { keys: { file: %q }, require: key }
classes:
  llm: { match: { path: "/*" }, upstream: llm, slots: 8, tenant: { key: "identity" }%s }
`, p.URL, kind, theirs, file, more)
	cfg, err := config.Parse("spillway.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := listen()
	g, err := gateway.New(cfg, gateway.Options{Listener: l, AdminListener: listen(), Logger: slog.New(slog.DiscardHandler), DrainLimit: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return gate{"http://" + l.Addr().String(), key}
}
