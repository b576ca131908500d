package gateway_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
)

// A reload reads fixed answers again, and what was kept stays; a fixed answer that
// cannot be read leaves everything as it was.
func TestAReloadReadsFixedAnswersAgainAndKeepsWhatWasKept(t *testing.T) {
	service, path := newMoody(), static(t)
	text := fmt.Sprintf("version: 1\nupstreams: { app: { url: %q } }\nclasses: { all: { ladder: [ { cache: { ttl: 60s } }, { static: { file: %q } } ] } }\n",
		serviceAt(t, service.ServeHTTP), path)
	load := func() (*config.Config, error) { return config.Parse("test.yaml", []byte(text)) }
	cfg, err := load()
	if err != nil {
		t.Fatal(err)
	}
	h := startConfig(t, cfg, func(o *gateway.Options) { o.Load = load })
	h.get("/known")
	service.mood.Store("fails")
	if g := h.get("/new"); g.body != `{"list":[]}` {
		t.Fatal(g.body)
	}
	if err := os.WriteFile(path, []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := h.Reload("test"); err != nil || r.Result != "applied" {
		t.Fatalf("%+v, %v", r, err)
	}
	if g := h.get("/new"); g.body != "changed" {
		t.Errorf("the fixed answer is %q", g.body)
	}
	want(t, h.get("/known"), 200, "failed", "cache")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if r, err := h.Reload("test"); err == nil {
		t.Errorf("%+v without the file", r)
	}
	if g := h.get("/new"); g.body != "changed" {
		t.Errorf("after a reload that was refused the fixed answer is %q", g.body)
	}
}
