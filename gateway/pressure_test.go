package gateway

import (
	"bytes"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/observe/pressure"
)

// pressed is a gateway of two upstreams that is told what it would read.
type pressed struct {
	*Gateway
	t   *testing.T
	now time.Time
	log bytes.Buffer
}

func newPressed(t *testing.T, allowed string) *pressed {
	cfg, err := config.Parse("test.yaml", []byte(`
pressure: `+allowed+`
upstreams: { app: { url: "http://127.0.0.1:1" }, store: { url: "http://127.0.0.1:2" } }
classes:
  web: { match: { path: "/web/*" }, upstream: app, slots: 40 }
  api: { match: { path: "/api/*" }, upstream: app, slots: 8 }
  all: { match: { path: "/*" }, upstream: store, slots: { min: 4, max: 400, start: 20 } }
`))
	if err != nil {
		t.Fatal(err)
	}
	p := &pressed{t: t, now: time.Now()}
	if p.Gateway, err = New(cfg, Options{Logger: slog.New(slog.NewTextHandler(&p.log, nil))}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	p.pressing.close() // from now on by hand
	return p
}

func (p *pressed) look(r pressure.Reading) {
	p.now = p.now.Add(pressEvery)
	p.press(p.now, func(time.Time) pressure.Reading { return r })
}

func (p *pressed) slots() (all []int) {
	for _, upstream := range []string{"app", "store"} {
		for _, s := range p.Gate(upstream).States() {
			all = append(all, s.Slots)
		}
	}
	return all
}

func (p *pressed) want(when string, web, api, all int) {
	p.t.Helper()
	if got := p.slots(); len(got) != 3 || got[0] != web || got[1] != api || got[2] != all {
		p.t.Errorf("%s: the classes have %v slots, want %d, %d and %d", when, got, web, api, all)
	}
}

func (p *pressed) scrape() string {
	w := httptest.NewRecorder()
	p.Metrics().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

func known(v float64) pressure.Share { return pressure.Share{Value: v, Known: true} }

// One reading a second: every upstream's classes give way while the gateway itself is
// short, it is seen in the metrics, and said once in the log when it begins and ends.
func TestAGatewayThatIsShortOfMemoryTakesLess(t *testing.T) {
	p := newPressed(t, "{ memory: 80%, cpu: off }")
	p.look(pressure.Reading{CPU: known(5), Memory: known(1)}) // 1.25 of what is allowed
	p.want("short of memory", 32, 6, 16)
	if text := p.scrape(); !strings.Contains(text, `spillway_pressure_ratio{signal="memory"} 1.25`) ||
		!strings.Contains(text, `spillway_limit_given_way_ratio{resource="app"} 0.2`) || strings.Contains(text, `signal="cpu"`) {
		t.Error("that is not in the metrics")
	}
	p.look(pressure.Reading{Memory: known(0.9)})
	p.look(pressure.Reading{Memory: known(0.7)})
	for _, line := range []string{"limits give way", "limits come back"} {
		if n := strings.Count(p.log.String(), line); n != 1 {
			t.Errorf("%q is said %d times:\n%s", line, n, p.log.String())
		}
	}
}

// What cannot be read holds nobody back, and is said once, however long it goes on.
func TestPressureThatIsNotKnown(t *testing.T) {
	p := newPressed(t, "{ cpu: 90%, scheduler: 10ms }")
	for range 5 {
		p.look(pressure.Reading{CPU: known(0.5)})
	}
	p.want("memory is not known", 40, 8, 20)
	if n := strings.Count(p.log.String(), "signals=memory"); n != 1 || strings.Contains(p.log.String(), "scheduler") {
		t.Errorf("it is said %d times:\n%s", n, p.log.String())
	}
}

// All off is as if nobody looked, also for what is read by a reload that says so later.
func TestPressureThatIsOff(t *testing.T) {
	p := newPressed(t, "{ memory: off }")
	p.press(p.now, func(time.Time) pressure.Reading { t.Error("it was looked at"); return pressure.Reading{} })
	p.want("off", 40, 8, 20)
	if strings.Contains(p.scrape(), "spillway_pressure_ratio{") || p.log.Len() > 0 {
		t.Errorf("it is shown:\n%s", p.log.String())
	}
}
