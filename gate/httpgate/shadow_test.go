package httpgate_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/httpgate"
)

// In shadow a handler serves everybody, under no deadline, and each answer says
// what was decided.
func TestAnswersInShadowSayWhatWasDecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := gate.New(gate.Config{Classes: []gate.Class{{
			Name: "app", Mode: gate.Mode{Kind: gate.Shadow}, Deadline: time.Second, Pool: gate.Pool{Slots: 1, Bound: 1},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		h := httpgate.Middleware(g)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if at, ok := r.Context().Deadline(); ok {
				t.Errorf("the handler is told a deadline of %v", at)
			}
			time.Sleep(2 * time.Second)
		}))
		answers := make([]*httptest.ResponseRecorder, 3)
		var all sync.WaitGroup
		for i := range answers {
			answers[i] = httptest.NewRecorder()
			all.Go(func() { h.ServeHTTP(answers[i], httptest.NewRequest("GET", "/", nil)) })
			synctest.Wait()
		}
		all.Wait()
		for i, want := range []string{"run", "wait", "queue_full"} {
			if a := answers[i]; a.Code != http.StatusOK || a.Header().Get(httpgate.HeaderShadow) != want {
				t.Errorf("answer %d is %d, in shadow %q, want %q", i, a.Code, a.Header().Get(httpgate.HeaderShadow), want)
			}
		}
		g.Close()
	})
}

// A session is decided about in earnest or it is not.
func TestSessionsAreToldApart(t *testing.T) {
	g, err := gate.New(gate.Config{Classes: []gate.Class{{
		Name: "app", Mode: gate.Mode{Kind: gate.Part, Share: 500_000}, Pool: gate.Pool{Slots: 1},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	h := httpgate.Middleware(g, httpgate.Session(httpgate.Cookie("sid")))(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	in := 0
	for i := range 50 {
		var said []string
		for range 3 {
			r := httptest.NewRequest("GET", "/", nil)
			r.AddCookie(&http.Cookie{Name: "sid", Value: fmt.Sprint("session-", i)})
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			said = append(said, w.Header().Get(httpgate.HeaderShadow))
		}
		if said[0] != said[1] || said[1] != said[2] {
			t.Errorf("session %d is told %q", i, said)
		}
		if said[0] == "" {
			in++
		}
	}
	if in < 10 || in > 40 {
		t.Errorf("%d of 50 sessions are in force at 50 %%", in)
	}
}
