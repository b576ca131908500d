package copies_test

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gateway/copies"
	"github.com/spillway-dev/spillway/policy/spread"
)

func TestEveryCopyGetsItsPart(t *testing.T) {
	a, b := serve(t, nil), serve(t, nil)
	s := set(t, copies.Config{URLs: of(a, b)})
	for range 20 {
		if _, err := call(t, s, soon); err != nil {
			t.Fatal(err)
		}
	}
	if a.calls.Load() != 10 || b.calls.Load() != 10 {
		t.Errorf("%d and %d of 20", a.calls.Load(), b.calls.Load())
	}
}

// A copy that dies is left out after a few failures, is tried again when its time is
// over, and gets its whole part only by and by.
func TestAKilledCopyIsLeftOutAndComesBack(t *testing.T) {
	a, b := serve(t, nil), serve(t, nil)
	s := set(t, copies.Config{URLs: of(a, b), Spread: spread.Config{InARow: 3, For: time.Second}})
	call(t, s, soon)
	call(t, s, soon)
	a.kill()
	failed := 0
	until(t, "the dead copy is ejected", func() bool {
		if _, err := call(t, s, soon); err != nil {
			failed++
		}
		return word(s, a.address) == "ejected"
	})
	if failed > 4 { // three in a row, and the connection that broke
		t.Errorf("%d requests failed before it was", failed)
	}
	for range 20 {
		if name, err := call(t, s, soon); err != nil || name != b.address {
			t.Fatalf("%s, %v; want the living copy", name, err)
		}
	}
	a.start()
	before := a.calls.Load()
	until(t, "it starts slowly", func() bool { return word(s, a.address) == "starting slowly" })
	until(t, "it is in", func() bool {
		if _, err := call(t, s, soon); err != nil {
			t.Fatal(err)
		}
		return word(s, a.address) == "in"
	})
	if a.calls.Load() == before {
		t.Error("it got nothing while it started slowly")
	}
}

// A copy that takes connections and never answers is given no more than its part
// while others answer, and is ejected for being late.
func TestAFrozenCopyIsLeftOut(t *testing.T) {
	thaw := make(chan struct{})
	frozen := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-thaw })
	defer close(thaw)
	well := serve(t, nil)
	s := set(t, copies.Config{URLs: of(frozen, well), Spread: spread.Config{InARow: 3, For: time.Hour}})
	for range 10 {
		call(t, s, 50*time.Millisecond)
	}
	until(t, "the frozen copy is ejected", func() bool { call(t, s, 50*time.Millisecond); return word(s, frozen.address) == "ejected" })
	if name, err := call(t, s, soon); err != nil || name != well.address {
		t.Errorf("%s, %v", name, err)
	}
}

func TestASlowCopyGetsLess(t *testing.T) {
	release, began := make(chan struct{}), make(chan struct{}, 100)
	slow := serve(t, func(http.ResponseWriter, *http.Request) { began <- struct{}{}; <-release })
	fast := serve(t, nil)
	s := set(t, copies.Config{URLs: of(slow, fast)})
	var wait sync.WaitGroup
	for busy := false; !busy; { // until the slow copy has one
		done := make(chan struct{})
		wait.Go(func() { call(t, s, 2*soon); close(done) })
		select {
		case <-done:
		case <-began:
			busy = true
		}
	}
	for range 50 {
		if name, err := call(t, s, soon); err != nil || name != fast.address {
			t.Errorf("%s, %v; the slow copy has one, the fast one none", name, err)
		}
	}
	close(release)
	wait.Wait()
}

// All are down: every request fails at once, nothing waits, nothing is held; the
// first that is back is used at once.
func TestAllDownIsPanicAndNoWedge(t *testing.T) {
	a, b := serve(t, nil), serve(t, nil)
	s := set(t, copies.Config{URLs: of(a, b), Spread: spread.Config{InARow: 2, For: time.Hour}})
	a.kill()
	b.kill()
	until(t, "panic", func() bool { call(t, s, soon); return s.Panic() })
	for range 10 {
		_, err := call(t, s, soon)
		var undialed *copies.DialError
		if !errors.As(err, &undialed) || !errors.Is(err, syscall.ECONNREFUSED) || undialed.Upstream != "app" {
			t.Fatalf("%v; want a refused connection, as a DialError", err)
		}
	}
	b.start()
	until(t, "the copy that is back is in", func() bool { call(t, s, soon); return !s.Panic() && word(s, b.address) != "ejected" })
	if got := word(s, a.address); got != "ejected" {
		t.Errorf("the dead copy is %s", got)
	}
	for _, st := range s.States() {
		if st.InFlight != 0 {
			t.Errorf("%s holds %d requests that have ended", st.Name, st.InFlight)
		}
	}
}

func TestTheFloorHolds(t *testing.T) {
	a, b, c := serve(t, nil), serve(t, nil), serve(t, nil)
	s := set(t, copies.Config{URLs: of(a, b, c), Spread: spread.Config{InARow: 1, For: time.Hour, AtMost: 40}})
	a.kill()
	b.kill()
	until(t, "both failed", func() bool {
		call(t, s, soon)
		return s.States()[0].Ejected && s.States()[1].Ejected
	})
	if got := strings.Count(states(s), " ejected"); got != 1 {
		t.Errorf("%d of 3 are left out, 40 %% is one: %s", got, states(s))
	}
}

func TestConnectionsAreCapped(t *testing.T) {
	a := serve(t, nil)
	s := set(t, copies.Config{URLs: of(a), Spread: spread.Config{Connections: 2}})
	c, _ := s.Take(nil)
	defer c.Done()
	one, err1 := c.Dial(t.Context())
	two, err2 := c.Dial(t.Context())
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	defer two.Close()
	if _, err := c.Dial(t.Context()); !errors.Is(err, copies.ErrConnections) {
		t.Errorf("a third connection: %v", err)
	}
	one.Close()
	one.Close() // twice counts once
	three, err := c.Dial(t.Context())
	if err != nil {
		t.Fatalf("one was closed, and still: %v", err)
	}
	defer three.Close()
	if n := s.States()[0].Connections; n != 2 {
		t.Errorf("%d are counted, 2 are open", n)
	}
}

// An idle connection of one pool must not keep another from connecting.
func TestIdleConnectionsMakeRoomAtTheCap(t *testing.T) {
	a := serve(t, nil)
	s := set(t, copies.Config{URLs: of(a), Spread: spread.Config{Connections: 1}})
	if _, err := call(t, s, soon); err != nil {
		t.Fatal(err)
	}
	c, _ := s.Take(nil)
	defer c.Done()
	until(t, "the idle connection is given up", func() bool {
		bare, err := c.Dial(t.Context())
		if err == nil {
			bare.Close()
		}
		return err == nil
	})
}

func TestAUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {})}
	done := make(chan struct{})
	go func() { server.Serve(l); close(done) }()
	defer func() { server.Close(); <-done }()
	s := set(t, copies.Config{URLs: []*url.URL{parse(t, "unix:"+path)}})
	if name, err := call(t, s, soon); err != nil || name != path {
		t.Errorf("%s, %v", name, err)
	}
}

func TestWhatAnAnswerSaysOfItsCopy(t *testing.T) {
	for status, want := range map[int]spread.Outcome{
		200: spread.Answered, 304: spread.Answered, 404: spread.Answered, 429: spread.Busy, 503: spread.Busy,
		500: spread.Failed, 502: spread.Failed, 504: spread.Failed, 501: spread.Answered,
	} {
		if got := copies.OutcomeOf(status); got != want {
			t.Errorf("%d says %v, want %v", status, got, want)
		}
	}
}

func TestAConfigThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"": "no URL", "ftp://h": `scheme "ftp"`, "http://": "no host", "unix:": "no path",
	} {
		cfg := copies.Config{Name: "app"}
		if text != "" {
			cfg.URLs = append(cfg.URLs, parse(t, text))
		}
		if _, err := copies.New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
