package gateway

import (
	"io"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/reason"
)

const recording = `upstreams: { app: { url: "http://127.0.0.1:1" } }
classes:
  all: { match: { path: "/*" }, slots: 4, tenant: { key: "header:X-Tenant" }, session: { key: "cookie:sid" } }
`

// recordOne returns what one refused request costs its way.
func recordOne(t testing.TB, file string) func() {
	t.Helper()
	cfg, err := config.Parse("test.yaml", []byte(recording))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Record.File = file
	g, err := New(cfg, Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	g.beginRecording()

	c := g.current.Load().classes[0]
	ask := gate.Request{Tenant: "acme", Session: gate.SessionKey("s1"), At: c.gate.Now(), Cost: 1}
	return func() { g.recordRefused(c, &ask, reason.QueueFull) }
}

// TestRecordingAllocatesNothing on the way of a request.
func TestRecordingAllocatesNothing(t *testing.T) {
	record := recordOne(t, filepath.Join(t.TempDir(), "traffic.rec"))
	if n := testing.AllocsPerRun(1000, record); n != 0 {
		t.Errorf("%v allocations a request", n)
	}
}

// BenchmarkRecord is what a request pays for being recorded.
func BenchmarkRecord(b *testing.B) {
	for name, file := range map[string]string{"on": filepath.Join(b.TempDir(), "traffic.rec"), "off": ""} {
		b.Run(name, func(b *testing.B) {
			record := recordOne(b, file)
			b.ReportAllocs()
			for b.Loop() {
				record()
			}
		})
	}
}
