package script_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/trial"
	"github.com/spillway-dev/spillway/workload"
	"pgregory.net/rapid"
)

// laddered is one slot and one place to wait, below it what was answered before,
// another upstream of two slots, and a fixed answer.
const laddered = `version: 1
upstreams: { app: { url: %q }, cheap: { url: %q, slots: 2 } }
classes:
  lists:
    upstream: app
    slots: 1
    order: fifo
    feasible: off
    shed: off # which goes by what is measured, and so by the clock
    budget: { latency: 1000001us, service: 1s }
    ladder: [ { cache: { ttl: 1h } }, { upstream: cheap }, { static: { file: list.json } } ]
`

// asked is a request of a script: what it asks, when, and how long whoever works for
// it does. No two instants of a script are the same.
type asked struct {
	key       int
	at, takes time.Duration
}

// event is an arrival, or an end of work.
type event struct {
	at      time.Duration
	request int
	ends    bool
}

// One file, one sequence of arrivals and ends of work, in virtual time and over real
// sockets: each request has its answer from the same rung, for the same reason.
func TestTheGatewayAndTheSimulatorAnswerFromTheSameRungs(t *testing.T) {
	seen := map[string]int{}
	rapid.Check(t, func(r *rapid.T) {
		script := make([]asked, rapid.IntRange(4, 20).Draw(r, "requests"))
		for i := range script {
			script[i] = asked{
				key: rapid.IntRange(1, 4).Draw(r, "key"), at: time.Duration(i+1) * 10 * time.Millisecond,
				takes: time.Duration(rapid.IntRange(1, 9).Draw(r, "takes"))*10*time.Millisecond + time.Duration(1<<i),
			}
		}
		virtual, events := answersVirtual(t, script)
		live := answersLive(t, script, events)
		if !slices.Equal(live, virtual) {
			r.Fatalf("%v:\nover sockets %v\nsimulated    %v", script, live, virtual)
		}
		for _, a := range live {
			seen[a]++
		}
	})
	for _, a := range []string{"primary served", "cache queue_full", "cheap queue_full", "static queue_full"} {
		if seen[a] == 0 {
			t.Errorf("no request was answered %s: %v", a, seen)
		}
	}
}

func ladderedConfig(t *testing.T, app, cheap string) *config.Config {
	path := filepath.Join(t.TempDir(), "spillway.yaml")
	if err := errors.Join(
		os.WriteFile(filepath.Join(filepath.Dir(path), "list.json"), []byte("[]"), 0o600),
		os.WriteFile(path, fmt.Appendf(nil, laddered, app, cheap), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	return must(config.Load(path))
}

// answersVirtual plays the script in the simulator. It returns the answers by request
// and what happened when.
func answersVirtual(t *testing.T, script []asked) (answers []string, events []event) {
	var arrivals []workload.Arrival
	for i, q := range script {
		arrivals = append(arrivals, workload.Arrival{At: q.at, Service: q.takes, Cost: 1, Key: uint64(q.key)})
		events = append(events, event{at: q.at, request: i})
	}
	answers = make([]string, len(script))
	s := must(trial.Trial{
		Config: ladderedConfig(t, "http://127.0.0.1:1", "http://127.0.0.1:2"),
		Loads:  []trial.Load{{Source: workload.Slice(arrivals), Timed: true}},
		Record: func(r *sim.Record) { answers[r.Number] = r.Rung + " " + r.Reason.String() },
	}.Scenario())
	for i := range s.Resources { // rungs work for as long as the script says too
		for j := range s.Resources[i].Ladders {
			for k := range s.Resources[i].Ladders[j].Rungs {
				s.Resources[i].Ladders[j].Rungs[k].Service = workload.FromTrace()
			}
		}
	}
	s.Work = func(w *sim.Work) { events = append(events, event{time.Duration(w.Ended), int(w.Number), true}) }
	must(sim.Run(s, nil))
	slices.SortFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	return answers, events
}

// worker is an upstream whose requests end when the script says so.
type worker struct {
	ends   []chan struct{} // by request
	inside atomic.Int64
}

// ServeHTTP tells requests apart by their ids, which are in no key of the cache.
func (u *worker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i, _ := strconv.Atoi(r.Header.Get("X-Request-Id"))
	u.inside.Add(1)
	<-u.ends[i]
	u.inside.Add(-1)
	io.WriteString(w, "answer")
}

// answersLive plays what happened over real sockets: each event when all that the one
// before brought about has come to rest.
func answersLive(t *testing.T, script []asked, events []event) []string {
	app := &worker{}
	for range script {
		app.ends = append(app.ends, make(chan struct{}))
	}
	cheap := &worker{ends: app.ends}
	one, other := httptest.NewServer(app), httptest.NewServer(cheap)
	defer one.Close()
	defer other.Close()
	front := must(net.Listen("tcp", "127.0.0.1:0"))
	g := must(gateway.New(ladderedConfig(t, one.URL, other.URL), gateway.Options{
		Listener: front, AdminListener: must(net.Listen("tcp", "127.0.0.1:0")), Logger: slog.New(slog.DiscardHandler),
	}))
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- g.Serve(ctx) }()

	answers, outstanding := make([]string, len(script)), atomic.Int64{}
	done := make([]chan struct{}, len(script))
	var all sync.WaitGroup
	for _, e := range events {
		if e.ends {
			close(app.ends[e.request])
			select {
			case <-done[e.request]:
			case <-time.After(10 * time.Second):
				t.Fatalf("%+v of %v: whoever was to end then is not at work", e, events)
			}
		} else {
			done[e.request] = make(chan struct{})
			outstanding.Add(1)
			all.Go(func() {
				answers[e.request] = get(fmt.Sprintf("http://%s/%d", front.Addr(), script[e.request].key), e.request)
				outstanding.Add(-1)
				close(done[e.request])
			})
		}
		ended := time.After(10 * time.Second)
		for at := int64(-1); at != outstanding.Load(); {
			select {
			case <-ended:
				t.Fatalf("after %+v of %v: %d requests, %d known to be anywhere", e, events, outstanding.Load(), at)
			default:
				runtime.Gosched()
			}
			at = app.inside.Load() + cheap.inside.Load() + int64(g.Gate("app").States()[0].Waiting)
		}
	}
	all.Wait()
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	return answers
}

func get(url string, id int) string {
	req := must(http.NewRequest("GET", url, nil))
	req.Header.Set("X-Request-Id", strconv.Itoa(id))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	io.Copy(io.Discard, res.Body)
	return res.Header.Get("Spillway-Rung") + " " + res.Header.Get("Spillway-Reason")
}
