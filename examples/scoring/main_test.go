package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gate/httpgate"
	"github.com/spillway-dev/spillway/policy/call"
)

// serve runs a handler at a socket.
func serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// start runs the service, at a store that is called under the policy, and returns its
// address.
func start(t *testing.T, store *httptest.Server, p call.Policy) string {
	t.Helper()
	h, err := newService(store.URL, p)
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, h).URL
}

// patient is how lookups are called where a machine that is busy must not decide.
func patient(change func(*call.Policy)) call.Policy {
	p := lookups
	p.Timeout = 20 * time.Second
	if change != nil {
		change(&p)
	}
	return p
}

type answer struct {
	status       int
	rung, reason string
	body         string
	whole        string // status line, header and body, as curl -i shows them
}

// ask waits a minute for the answer, and tells the service so.
func ask(t *testing.T, url string) answer {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Error(err)
		return answer{}
	}
	req.Header.Set("X-Envoy-Expected-Rq-Timeout-Ms", "60000")
	return send(t, req)
}

func send(t *testing.T, req *http.Request) answer {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return answer{}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	var whole bytes.Buffer
	fmt.Fprintf(&whole, "%s %s\n", resp.Proto, resp.Status)
	resp.Header.Write(&whole)
	fmt.Fprintf(&whole, "\n%s", body)
	return answer{resp.StatusCode, resp.Header.Get(httpgate.HeaderRung), resp.Header.Get(httpgate.HeaderReason),
		string(body), strings.ReplaceAll(whole.String(), "\r", "")}
}

func (a answer) want(t *testing.T, rung, reason string) {
	t.Helper()
	if a.status != http.StatusOK || a.rung != rung || a.reason != reason {
		t.Errorf("%s\nwant 200, rung %s, reason %s", a.whole, rung, reason)
	}
}

// freezes is a store that does not answer the lookups for which f is true.
func freezes(f func(*http.Request) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f(r) {
			<-r.Context().Done()
			return
		}
		json.NewEncoder(w).Encode(featuresOf("ann"))
	})
}

func attempt(r *http.Request) string { return r.Header.Get("X-Envoy-Attempt-Count") }

// A lookup that never ends: the caller has the last known score long before it would
// have given up, tagged, and a customer who has none has the default.
func TestAFrozenLookupHasAStandIn(t *testing.T) {
	var mu sync.Mutex
	frozen := false
	store := serve(t, freezes(func(*http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		return frozen
	}))
	url := start(t, store, patient(func(p *call.Policy) { p.Timeout = 500 * time.Millisecond }))
	before := ask(t, url+"/score/ann")
	before.want(t, "primary", "served")

	mu.Lock()
	frozen = true
	mu.Unlock()
	began := time.Now()
	after := ask(t, url+"/score/ann")
	after.want(t, "last_known", "timeout")
	if after.body != before.body {
		t.Errorf("the last known score is %s, it was %s", after.body, before.body)
	}
	ask(t, url+"/score/bob").want(t, "default", "timeout")
	if took := time.Since(began); took > 20*time.Second { // two times two limits of half a second
		t.Errorf("the stand-ins took %v", took)
	}
}

// The first lookup freezes, the one asked beside it does not: its answer is the caller's.
func TestAHedgeWins(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	store := serve(t, freezes(func(r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, attempt(r))
		return attempt(r) == "1"
	}))
	url := start(t, store, patient(func(p *call.Policy) { p.Retries = 0 }))
	ask(t, url+"/score/ann").want(t, "primary", "served")
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(seen, []string{"1", "2"}) {
		t.Errorf("attempts %v, want 1 and 2", seen)
	}
}

// Each lookup says for how long it is waited for: its own limit, however patient the
// service's caller is.
func TestTheLimitTravels(t *testing.T) {
	var mu sync.Mutex
	var said []string
	store := serve(t, freezes(func(r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, r.Header.Get("X-Envoy-Expected-Rq-Timeout-Ms"))
		return true
	}))
	ask(t, start(t, store, lookups)+"/score/ann").want(t, "default", "timeout")
	mu.Lock()
	defer mu.Unlock()
	for _, s := range said {
		if ms, err := strconv.Atoi(s); err != nil || ms < 1 || ms > 25 {
			t.Errorf("a lookup said %q, want 1 .. 25", s)
		}
	}
}

// A store that is gone is soon not asked any more, and every caller is answered.
func TestAStoreThatIsGoneIsLeftAlone(t *testing.T) {
	store := serve(t, newStore())
	url := start(t, store, patient(nil))
	store.Close()
	got := map[string]int{}
	for i := 0; i < 500 && got["breaker_open"] == 0; i++ {
		a := ask(t, url+"/score/ann")
		a.want(t, "default", a.reason)
		got[a.reason]++
	}
	if got["failed"] == 0 || got["breaker_open"] == 0 {
		t.Errorf("reasons %v, want failed and then breaker_open", got)
	}
}

// Three hundred callers at once, a store that is frozen, and 32 slots: all are answered
// and told why, and who cannot be served in time is refused.
func TestTheWayInIsBounded(t *testing.T) {
	url := start(t, serve(t, freezes(func(*http.Request) bool { return true })), patient(nil))
	var mu sync.Mutex
	got := map[int]int{}
	var all sync.WaitGroup
	for range 300 {
		all.Go(func() {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/score/ann", nil)
			a := send(t, req)
			if a.rung == "" || a.reason == "" {
				t.Errorf("an answer without rung and reason:\n%s", a.whole)
			}
			mu.Lock()
			defer mu.Unlock()
			got[a.status]++
		})
	}
	all.Wait()
	if got[http.StatusServiceUnavailable]+got[http.StatusGatewayTimeout] == 0 {
		t.Errorf("answers by status: %v", got)
	}
}

// The README's commands print what it says. Where it stops the store, so does this.
func TestReadme(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	store := serve(t, newStore())
	url := start(t, store, patient(func(p *call.Policy) { p.Timeout = 500 * time.Millisecond }))
	asked := 0
	var printed []string
	inBlock := false
	for i, line := range strings.Split(string(page), "\n") {
		if strings.HasPrefix(line, "```") {
			inBlock, printed = !inBlock, nil
			continue
		}
		command, ok := strings.CutPrefix(line, "$ ")
		switch path, isAsk := strings.CutPrefix(command, "curl -si localhost:8080"); {
		case !inBlock:
		case ok && isAsk:
			asked++
			printed = strings.Split(ask(t, url+path).whole, "\n")
		case ok && command == "fg %1":
			store.CloseClientConnections()
			store.Close()
		case ok:
			printed = nil // it starts the programs, or is left to the reader
		case printed != nil && line != "":
			at := slices.Index(printed, line)
			if at < 0 {
				t.Fatalf("README.md:%d: %q is not printed, or not there: %q", i+1, line, printed)
			}
			printed = printed[at+1:]
		}
	}
	if asked < 4 {
		t.Errorf("the README asks %d times, want 4 or more", asked)
	}
}

// What is shown is small.
func TestTheServiceIsShort(t *testing.T) {
	text, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n >= 150 {
		t.Errorf("main.go has %d lines, fewer than 150 are promised", n)
	}
}
