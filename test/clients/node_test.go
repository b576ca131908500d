package clients

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/test/provider"
)

// met is what a client of Node met.
type met struct {
	OK     any    `json:"ok"`
	Status int    `json:"status"`
	Type   string `json:"type"`
	Error  string `json:"error"`
	Millis int64  `json:"ms"`
}

// node runs the clients of Node, where they are installed.
func node(t *testing.T, which string, g gate) map[string]met {
	t.Helper()
	program, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node: install it")
	}
	if _, err := os.Stat("node/node_modules"); err != nil {
		t.Skip("the clients for Node are not installed: run npm ci in test/clients/node")
	}
	c := exec.CommandContext(t.Context(), program, "clients.mjs", which, g.url, g.key)
	c.Dir = "node"
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	var seen map[string]met
	if err := json.Unmarshal(out.Bytes(), &seen); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return seen
}

func TestOpenAINode(t *testing.T) {
	p := provider.Start(t, provider.Config{Key: theirs})
	g := start(t, p, "openai", "")
	usual := provider.Step{}
	p.Next(usual, usual, usual, usual, usual,
		provider.Step{Status: 429, Header: map[string]string{"Retry-After": "1"}}, usual, // limited, then not
		provider.Step{Status: 429, Body: `{"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"x"}}`},
		provider.Step{ErrorAfter: 2}, provider.Step{CutAfter: 2})
	seen := node(t, "openai", g)
	for name, want := range map[string]any{"chat": said(5), "stream": said(5), "usage": said(5) + "|5", "response": said(5), "embedding": 1.0, "limited": said(5)} {
		if seen[name].OK != want {
			t.Errorf("%s: %+v, want %v", name, seen[name], want)
		}
	}
	if seen["limited"].Millis < 1000 {
		t.Errorf("one that was limited came again after %d ms", seen["limited"].Millis)
	}
	if s := seen["spent"]; s.Status != 429 {
		t.Errorf("money that is spent: %+v", s)
	}
	for _, name := range []string{"error", "broken"} {
		if s := seen[name]; s.OK != nil || s.Error == "" {
			t.Errorf("%s: %+v, want an error", name, s)
		}
	}
	if n := len(p.Calls()); n != 10 {
		t.Errorf("%d calls at the provider, want 10", n)
	}
}

func TestAnthropicNode(t *testing.T) {
	p := provider.Start(t, provider.Config{Key: theirs})
	g := start(t, p, "anthropic", "")
	usual := provider.Step{}
	p.Next(usual, usual, provider.Step{Status: 529, Header: map[string]string{"Retry-After": "1"}}, usual, provider.Step{ErrorAfter: 2}, provider.Step{CutAfter: 2})
	seen := node(t, "anthropic", g)
	for name, want := range map[string]any{"message": said(5), "stream": said(5) + "|5", "limited": said(5)} {
		if seen[name].OK != want {
			t.Errorf("%s: %+v, want %v", name, seen[name], want)
		}
	}
	if seen["limited"].Millis < int64(time.Second/time.Millisecond) {
		t.Errorf("one that met an overload came again after %d ms", seen["limited"].Millis)
	}
	for _, name := range []string{"error", "broken"} {
		if s := seen[name]; s.OK != nil || s.Error == "" {
			t.Errorf("%s: %+v, want an error", name, s)
		}
	}
}
