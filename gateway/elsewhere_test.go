package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/policy/boundary"
)

// cheap is another upstream: it says what it was asked, and with what body.
type cheap struct {
	moody
	bodies atomic.Value
}

func newCheap() *cheap {
	c := &cheap{moody: *newMoody()}
	c.bodies.Store("")
	return c
}

func (c *cheap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	c.bodies.Store(string(b))
	c.moody.ServeHTTP(w, r)
}

// beside runs a gateway for a class "all" that has another upstream below its own.
func beside(t *testing.T, class, rung, below string, app, other http.Handler) *harness {
	t.Helper()
	text := fmt.Sprintf(`version: 1
upstreams:
  app:   { url: %q }
  cheap: { url: %q, slots: 2, service: 5ms }
classes:
  all: { upstream: app, %s, ladder: [ { upstream: cheap%s }%s ] }
`, serviceAt(t, app.ServeHTTP), serviceAt(t, other.ServeHTTP), class, rung, below)
	cfg, err := config.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	h := startConfig(t, cfg)
	t.Cleanup(func() {
		h.stop()
		g := h.Gate("cheap")
		for _, s := range g.States() {
			if err := g.Check(); err != nil || s.Used != 0 || s.Tally.Running != 0 || s.Tally.Abandoned != 0 {
				t.Errorf("%s: %d slots used, %d running, %d abandoned, %v", s.Name, s.Used, s.Tally.Running, s.Tally.Abandoned, err)
			}
		}
	})
	return h
}

// Whatever the class's own upstream does, another answers: with its name, the first
// reason, and the whole body of the request; and the first slot is free by then.
func TestAnotherUpstreamAnswersInstead(t *testing.T) {
	for _, c := range []struct {
		name, mood, class, method, body string
		why                             string
	}{
		{"it answers 500", "fails", "slots: 4", "GET", "", "failed"},
		{"it drops the connection", "drops", "slots: 4", "GET", "", "failed"},
		{"it hangs", "hangs", "slots: 4, call: { timeout: 50ms }", "GET", "", "timeout"},
		{"it hangs and is broken off", "hangs", "slots: 4, abandoned: { cancel: on }, call: { timeout: 50ms }", "GET", "", "timeout"},
		{"it fails, with a body", "fails", "slots: 4", "POST", "a small order", "failed"},
		{"it hangs, with a body", "hangs", "slots: 4, call: { timeout: 50ms }", "POST", "a small order", "timeout"},
		{"it fails in every attempt", "drops", "slots: 4, call: { retries: 1, retry_budget: off, backoff: off }", "GET", "", "failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			app, other := newCheap(), newCheap()
			h := beside(t, c.class+", deadline: 20s", "", "", app, other)
			defer close(app.freed)
			app.mood.Store(c.mood)
			var body io.Reader
			if c.body != "" {
				body = strings.NewReader(c.body)
			}
			g := h.send(c.method, "/list", body, "X-Request-Id", "r-1")
			want(t, g, 200, c.why, "cheap")
			if g.body != "answer 1 to /list" || other.bodies.Load() != c.body || g.Header.Get("X-Request-Id") != "r-1" || g.Header.Get("X-Should-Retry") != "" {
				t.Errorf("%q with body %q, id %q, x-should-retry %q", g.body, other.bodies.Load(), g.Header.Get("X-Request-Id"), g.Header.Get("X-Should-Retry"))
			}
			line := fmt.Sprintf(`spillway_answered_total{class="all",reason="%s",resource="app",rung="cheap"} 1`, c.why)
			if metrics := h.adminGet("/metrics").body; !strings.Contains(metrics, line) {
				t.Errorf("no line %s in\n%s", line, lines(metrics, "spillway_answered_total"))
			}
			if pools := h.adminGet("/debug/pools").body; !strings.Contains(pools, "cheap / all/cheap") {
				t.Errorf("the pool is not shown in\n%s", pools)
			}
		})
	}
}

// What is refused at admission goes to the other upstream, for as many as that has
// slots: whoever comes then is given the next rung at once. It never has more to do
// than it can.
func TestAnotherUpstreamIsNeverOfferedMoreThanItCanDo(t *testing.T) {
	app, other := newMoody(), newMoody()
	app.mood.Store("hangs")
	other.mood.Store("hangs")
	h := beside(t, "slots: 1, deadline: 20s, budget: { latency: 2ms, service: 1999us }", "", fmt.Sprintf(`, { static: { file: %q } }`, static(t)), app, other)
	var rest sync.WaitGroup
	answers := make(chan got, 4)
	for range 4 { // one served, one waiting, two elsewhere
		rest.Go(func() {
			if g, err := h.try("GET", "/", nil); err == nil {
				answers <- g
			}
		})
		n := app.seen.Load() + other.seen.Load() + int64(h.state("all").Waiting)
		until(t, "it is somewhere", func() bool { return app.seen.Load()+other.seen.Load()+int64(h.state("all").Waiting) > n })
	}
	for range 3 {
		want(t, h.get("/"), 200, "queue_full", "static")
	}
	if n := other.seen.Load(); n != 2 {
		t.Errorf("with two slots it was asked %d at once", n)
	}
	close(app.freed)
	close(other.freed)
	rest.Wait()
	close(answers)
	from := map[string]int{}
	for g := range answers {
		from[g.Header.Get("Spillway-Rung")+" "+g.Header.Get("Spillway-Reason")]++
	}
	if from["primary served"] != 2 || from["cheap queue_full"] != 2 {
		t.Errorf("answers from %v", from)
	}
}

// What the other upstream has no answer for either is the next rung's, with the first
// reason; and where there is none, the refusal is the first's.
func TestAnotherUpstreamMayNotAnswerEither(t *testing.T) {
	for _, mood := range []string{"fails", "drops", "hangs"} {
		for below, rung := range map[string]string{fmt.Sprintf(`, { static: { file: %q } }`, static(t)): "static", "": "refusal"} {
			t.Run(mood+" "+rung, func(t *testing.T) {
				app, other := newMoody(), newMoody()
				h := beside(t, "slots: 4, deadline: 20s", ", call: { timeout: 50ms }", below, app, other)
				defer close(other.freed)
				app.mood.Store("fails")
				other.mood.Store(mood)
				status := 502
				if rung == "static" {
					status = 200
				}
				want(t, h.get("/"), status, "failed", rung)
				if other.seen.Load() != 1 {
					t.Errorf("it was asked %d times", other.seen.Load())
				}
			})
		}
	}
}

// It is asked under what is left of the deadline, and told so; and not at all where
// its answer could not be there in time.
func TestAnotherUpstreamIsAskedForWhatIsLeft(t *testing.T) {
	app, other := newMoody(), newMoody()
	h := beside(t, "slots: 4, deadline: 20s", "", "", app, other)
	defer close(app.freed)
	app.mood.Store("fails")
	want(t, h.get("/"), 200, "failed", "cheap")
	left := 0
	if fmt.Sscan(other.left.Load().(string), &left); left < 10_000 || left > 20_000 {
		t.Errorf("of 20 s it was told that %d ms are left", left)
	}
	app.mood.Store("hangs")
	want(t, h.get("/", "X-Envoy-Upstream-Rq-Timeout-Ms", "100"), 504, "timeout", "refusal")
	if n := other.seen.Load(); n != 1 {
		t.Errorf("it was asked %d times: with nothing left, once too often", n)
	}
}

// A body is kept up to a limit. A larger one, of which some has gone to the first
// upstream, is not sent to another; untouched, it is.
func TestALargeBodyIsNotSentTwice(t *testing.T) {
	large := strings.Repeat("x", 200<<10)
	app, other := newCheap(), newCheap()
	h := beside(t, "slots: 1, deadline: 20s, budget: { latency: 2ms, service: 1999us }", "", "", app, other)
	app.mood.Store("fails")
	want(t, h.send("POST", "/", strings.NewReader(large)), 502, "failed", "refusal")
	if other.seen.Load() != 0 {
		t.Error("the other was sent what is left of a body")
	}
	app.mood.Store("hangs")
	var rest sync.WaitGroup
	defer rest.Wait()
	defer close(app.freed)
	for range 2 {
		rest.Go(func() { h.try("GET", "/", nil) })
	}
	until(t, "one is being served and the waiting room is full", func() bool { return app.seen.Load() == 2 && h.state("all").Waiting == 1 })
	want(t, h.send("POST", "/", strings.NewReader(large)), 200, "queue_full", "cheap")
	if got := other.bodies.Load().(string); got != large {
		t.Errorf("of %d bytes it was sent %d", len(large), len(got))
	}
}

// A caller who hangs up while another upstream is asked leaves; the work there goes
// on, and keeps its slot there.
func TestWhoHangsUpWhileAnotherUpstreamWorks(t *testing.T) {
	app, other := newMoody(), newMoody()
	release := make(chan struct{})
	slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		other.seen.Add(1)
		<-release // whoever waits for it or not
	})
	h := beside(t, "slots: 4, deadline: 20s", "", "", app, slow)
	app.mood.Store("fails")
	req, _ := http.NewRequest("GET", h.url+"/", nil)
	ctx, hangUp := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { _, err := read(h.client.Do(req.WithContext(ctx))); ended <- err }()
	until(t, "the other is asked", func() bool { return other.seen.Load() == 1 })
	hangUp()
	<-ended
	state := func() boundary.ClassState { return h.Gate("cheap").States()[0] }
	until(t, "its caller is known to have gone", func() bool { return state().Tally.Abandoned == 1 })
	if s := state(); s.Used != 1 {
		t.Errorf("%d slots are held", s.Used)
	}
	close(release)
	until(t, "its slot is free", func() bool { return state().Used == 0 })
}

// A stream passes as any answer does, with the rung on it.
func TestAnotherUpstreamMayStream(t *testing.T) {
	app := newMoody()
	app.mood.Store("fails")
	next := make(chan struct{})
	h := beside(t, "slots: 4, deadline: 20s", "", "", app, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "one ")
		w.(http.Flusher).Flush()
		<-next
		io.WriteString(w, "two")
	}))
	res, err := h.client.Get(h.url + "/")
	if err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 4)
	if _, err := io.ReadFull(res.Body, first); err != nil || string(first) != "one " || res.Header.Get("Spillway-Rung") != "cheap" {
		t.Errorf("%q, %v, rung %q", first, err, res.Header.Get("Spillway-Rung"))
	}
	close(next)
	g, err := read(res, nil)
	if err != nil || g.body != "two" {
		t.Errorf("%q, %v", g.body, err)
	}
}

// A reload takes a rung away, brings it back and changes its pool.
func TestAReloadChangesWhichUpstreamIsAsked(t *testing.T) {
	app, other := newMoody(), newMoody()
	app.mood.Store("fails")
	rung := ", ladder: [ { upstream: cheap } ]"
	upstreams := fmt.Sprintf("version: 1\nupstreams: { app: { url: %q }, cheap: { url: %q, slots: 2 } }\n", serviceAt(t, app.ServeHTTP), serviceAt(t, other.ServeHTTP))
	load := func() (*config.Config, error) {
		return config.Parse("test.yaml", []byte(upstreams+"classes: { all: { upstream: app"+rung+" } }\n"))
	}
	cfg, err := load()
	if err != nil {
		t.Fatal(err)
	}
	h := startConfig(t, cfg, func(o *gateway.Options) { o.Load = load })
	reload := func(to string) {
		t.Helper()
		rung = to
		if r, err := h.Reload("test"); err != nil || r.Result != "applied" {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	want(t, h.get("/"), 200, "failed", "cheap")
	reload("")
	if g := h.get("/"); g.StatusCode != 500 || g.body != "stack trace" {
		t.Errorf("without the rung: %d %q", g.StatusCode, g.body)
	}
	reload(", ladder: [ { upstream: cheap, slots: 7 } ]")
	want(t, h.get("/"), 200, "failed", "cheap")
	s := h.Gate("cheap").States()[0]
	if s.Slots != 7 || s.Tally.Offered != 2 {
		t.Errorf("%d slots, %d offered since the start", s.Slots, s.Tally.Offered)
	}
}
