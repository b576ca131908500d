package gateway

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway/edge"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/rate"
)

// heir is a gateway that serves nothing, and its log.
func heir(t testing.TB, classes string) (*Gateway, *bytes.Buffer) {
	cfg, err := config.Parse("test.yaml", []byte("version: 1\nclients: { rate: { burst: 2, per_second: 0.001 } }\nupstreams: { app: { url: \"http://127.0.0.1:1\" }, other: { url: \"http://127.0.0.1:1\" } }\nclasses: { "+classes+" }\n"))
	if err != nil {
		t.Fatal(err)
	}
	log := new(bytes.Buffer)
	g, err := New(cfg, Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g, log
}

func (g *Gateway) bequest() []byte {
	g.reloading.Lock()
	defer g.reloading.Unlock()
	return g.bequeath()
}

// What the file has no place for any more is said and left; the rest is taken over.
func TestABequestMeetsAnotherFile(t *testing.T) {
	old, _ := heir(t, "a: { upstream: app, match: { path: /a }, slots: 4 }, b: { upstream: app, match: { path: /b } }, gone: { upstream: app }")
	for _, class := range []string{"a", "b", "gone"} {
		if _, err := old.Operate(class, boundary.RefuseAll, time.Hour, "ann", "repair"); err != nil {
			t.Fatal(err)
		}
		if _, err := old.Override(class, map[string]string{"slots": "2"}, time.Hour, "ann", "failover"); err != nil {
			t.Fatal(err)
		}
	}
	g, log := heir(t, "b: { upstream: other, match: { path: /b } }, a: { upstream: app, slots: 8 }")
	if err := g.takeIn(old.bequest()); err != nil {
		t.Fatal(err)
	}
	for _, c := range g.current.Load().classes {
		s := c.gate.States()[c.index]
		if s.Operator != boundary.RefuseAll || s.OperatorLeft > time.Hour || s.Slots != 2 {
			t.Errorf("class %s: %v for %v, %d slots", c.name, s.Operator, s.OperatorLeft, s.Slots)
		}
		if o := g.withOperation(poolState{}, &s); o.Operator.By != "ann" || o.Operator.Why != "repair" || o.Override.Why != "failover" {
			t.Errorf("class %s: %+v, %+v", c.name, o.Operator, o.Override)
		}
	}
	for _, said := range []string{"a class that was switched by hand is no longer there", "override dropped"} {
		if !strings.Contains(log.String(), said) || strings.Count(log.String(), "class=gone") != 2 {
			t.Errorf("the log does not say %q:\n%s", said, log)
		}
	}
}

// What was learned of gaps is taken over by classes that learn in the same way.
func TestABequestHandsOnWhatWasLearned(t *testing.T) {
	const file = `a: { upstream: app, match: { path: /a }, ladder: [cache: { ttl: 60s }], gap: { learned: { compare: exact, by: "path" } } },
		b: { upstream: app, ladder: [cache: { ttl: 60s }], gap: { learned: { compare: exact, by: "path" } } }`
	old, _ := heir(t, file)
	for _, c := range old.current.Load().classes {
		for range 40 {
			c.learning.record("/x", 0)
		}
	}
	g, _ := heir(t, strings.Replace(file, `"path" } } },`, `"method" } } },`, 1))
	if err := g.takeIn(old.bequest()); err != nil {
		t.Fatal(err)
	}
	for _, c := range g.current.Load().classes {
		if of, known := c.learning.gapOf("/x"); known != (c.name == "b") || of > 100_000 {
			t.Errorf("class %s: gap %d, known: %v; want b to know, and a, whose buckets are others now, not", c.name, of, known)
		}
	}
}

// What cannot be read changes nothing, and the process serves all the same.
func TestBequestsThatAreNotTakenIn(t *testing.T) {
	old, _ := heir(t, "a: { upstream: app }")
	if _, err := old.Operate("a", boundary.RefuseAll, time.Hour, "ann", ""); err != nil {
		t.Fatal(err)
	}
	good := string(old.bequest())
	for _, c := range []struct{ text, says string }{
		{"", "not what was expected"},
		{good[:len(good)/2], "not what was expected"},
		{strings.Replace(good, `"version":1`, `"version":2`, 1), "it is of version 2, this program reads version 1"},
		{strings.Replace(good, `"version":1,`, ``, 1), "it is of version 0"},
		{strings.Replace(good, `"for_s":`, `"for_s":"long","x":`, 1), "not what was expected"},
	} {
		g, _ := heir(t, "a: { upstream: app }")
		if err := g.takeIn([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.60s: %v, want %q", c.text, err, c.says)
		}
		if s := g.current.Load().classes[0].gate.States()[0]; s.Operator != boundary.AsConfigured {
			t.Errorf("%.60s: something was taken in", c.text)
		}
	}
}

// FuzzBequest: whatever arrives, the gateway is one that works.
func FuzzBequest(f *testing.F) {
	old, _ := heir(f, "a: { upstream: app }")
	f.Add(old.bequest())
	f.Add([]byte(`{"version":1,"resources":{"app":{"classes":[{"name":"a","measured":{"holding":{"samples":-1,"sum_ns":9223372036854775807}}}],"clients":[{"key":1,"full_in_ns":9223372036854775807,"interval_ns":1e-40}]}}}`))
	f.Add([]byte(`{"version":1,"operated":[{"class":"a","mode":"refuse","for_s":1e300}],"overrides":[{"class":"a","keys":{"slots":"0"},"left_s":5},{"class":"a","keys":{"slots":"3"},"left_s":-1}]}`))
	g, _ := heir(f, "a: { upstream: app }")
	f.Fuzz(func(t *testing.T, text []byte) {
		if g.takeIn(text) != nil {
			return
		}
		for _, r := range g.current.Load().resources {
			if err := r.gate.Check(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// As many clients as are handed on at most fit into what may be handed on, with room
// for all the rest.
func TestTheLargestBequestFits(t *testing.T) {
	clients := make([]rate.Used, clientsBequeathed)
	for i := range clients {
		clients[i] = rate.Used{Key: math.MaxUint64, FullInNS: math.MinInt64, IntervalNS: 1.2345678e-30}
	}
	text, err := json.Marshal(bequest{Resources: map[string]boundary.Memory{"app": {Clients: clients}}})
	if err != nil || len(text) > edge.StateMost/2 {
		t.Errorf("%d bytes of %d, %v", len(text), edge.StateMost, err)
	}
}
