package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/gateway/jobs"
)

// keeping runs a gateway with a ledger of its own and jobs at /v1/jobs.
func keeping(t *testing.T, classes string, service http.HandlerFunc, change ...func(*gateway.Options)) *harness {
	t.Helper()
	ledger := fmt.Sprintf("ledger: { url: %q }\n", "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"))
	if !strings.Contains(classes, "jobs:") {
		ledger += "jobs: { path: /v1/jobs }\n"
	}
	return start(t, ledger+classes, service, change...)
}

// submit brings a job that was accepted, and returns its id.
func (h *harness) submit(submission string, header ...string) string {
	h.Helper()
	g := h.send("POST", "/v1/jobs", strings.NewReader(submission), header...)
	s := state(h, g)
	if g.StatusCode != http.StatusAccepted || g.Header.Get("Location") != "/v1/jobs/"+s.ID || g.Header.Get("Spillway-Reason") != "accepted" {
		h.Fatalf("%d, %v: %s", g.StatusCode, g.Header, g.body)
	}
	return s.ID
}

func state(t testing.TB, g got) (s jobs.State) {
	t.Helper()
	if err := json.Unmarshal([]byte(g.body), &s); err != nil {
		t.Fatalf("%d, no job: %q", g.StatusCode, g.body)
	}
	return s
}

// becomes waits for a job to be in one of the states, which it returns.
func (h *harness) becomes(id string, states ...string) (s jobs.State) {
	h.Helper()
	defer func() {
		if h.Failed() {
			h.Logf("it is %+v", s)
		}
	}()
	until(h, "job "+id+" is "+strings.Join(states, " or "), func() bool {
		s = state(h, h.get("/v1/jobs/"+id))
		return slices.Contains(states, s.State)
	})
	return s
}

// From the 202 to its answer, which is what the caller would have had.
func TestAJobIsDone(t *testing.T) {
	seen := make(chan *http.Request, 1)
	h := keeping(t, "  all: {}", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen <- r
		w.Header().Set("X-From", "upstream")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, "did %s", body)
	})
	id := h.submit(`{"request": {"path": "/mail?to=a", "headers": {"X-A": "b"}, "json": {"n": 1}}}`, "Idempotency-Key", "mine")
	s := h.becomes(id, "done")
	if s.Status != 201 || s.Attempts != 1 || s.Reason != "served" || !s.Kept || s.End.Before(s.Accepted) {
		t.Errorf("%+v", s)
	}
	r := <-seen
	if r.Method != "POST" || r.URL.String() != "/mail?to=a" || r.Header.Get("X-A") != "b" || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Idempotency-Key") != `"mine"` {
		t.Errorf("the upstream saw %v %v, %v", r.Method, r.URL, r.Header)
	}
	a := h.get("/v1/jobs/" + id + "/answer")
	if a.StatusCode != 201 || a.body != `did {"n": 1}` || a.Header.Get("X-From") != "upstream" || a.Header.Get("Spillway-Reason") != "served" {
		t.Errorf("%d, %v: %s", a.StatusCode, a.Header, a.body)
	}
	if g := h.send("POST", "/v1/jobs", strings.NewReader(`{"request": {"path": "/mail?to=a", "headers": {"X-A": "b"}, "json": {"n": 1}}}`), "Idempotency-Key", `"mine"`); g.StatusCode != 202 || state(t, g).ID != id || g.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the same again: %d, %v: %s", g.StatusCode, g.Header, g.body)
	}
	if g := h.send("POST", "/v1/jobs", strings.NewReader(`{"request": {"path": "/mail?to=b"}}`), "Idempotency-Key", "mine"); g.StatusCode != 422 || g.Header.Get("Spillway-Reason") != "key_conflict" {
		t.Errorf("another under the same key: %d: %s", g.StatusCode, g.body)
	}
}

// What cannot be a job is refused, says why, and leaves nothing behind.
func TestWhatCannotBeAJob(t *testing.T) {
	h := keeping(t, "jobs: { path: /v1/jobs, body: 1KiB, webhooks: { hosts: [hooks.example.com], secret: abc } }\n  mail: { match: { path: \"/mail*\" } }", func(http.ResponseWriter, *http.Request) { t.Error("the upstream was asked") })
	for _, c := range []struct {
		name, body string
		status     int
		says       string
		header     []string
	}{
		{"no JSON", `{`, 400, "cannot be read", nil},
		{"an unknown key", `{"request": {"path": "/mail"}, "prio": 1}`, 400, `unknown field`, nil},
		{"two", `{"request": {"path": "/mail"}} {}`, 400, "more than one", nil},
		{"two bodies", `{"request": {"path": "/mail", "body": "a", "json": {}}}`, 400, "more than one of body", nil},
		{"no path", `{"request": {}}`, 400, "request.path", nil},
		{"another place", `{"request": {"path": "http://elsewhere/"}}`, 400, "request.path", nil},
		{"no class", `{"request": {"path": "/other"}}`, 404, "No class", nil},
		{"itself", `{"request": {"path": "/v1/jobs"}}`, 404, "No class", nil},
		{"a tunnel", `{"request": {"method": "CONNECT", "path": "/mail"}}`, 400, "request.method", nil},
		{"split headers", `{"request": {"path": "/mail", "headers": {"A": "b\r\nC: d"}}}`, 400, "value of A", nil},
		{"a header between neighbours", `{"request": {"path": "/mail", "headers": {"Transfer-Encoding": "chunked"}}}`, 400, "Transfer-Encoding", nil},
		{"a large body", `{"request": {"path": "/mail", "body": "` + strings.Repeat("x", 1025) + `"}}`, 413, "larger", nil},
		{"a huge one", strings.Repeat(" ", 200<<10), 413, "larger", nil},
		{"a deadline in the past", `{"request": {"path": "/mail"}, "deadline": "-1s"}`, 400, "deadline", nil},
		{"a webhook elsewhere", `{"request": {"path": "/mail"}, "webhook": "https://169.254.169.254/latest"}`, 400, "webhook", nil},
		{"one without TLS", `{"request": {"path": "/mail"}, "webhook": "http://hooks.example.com/"}`, 400, "webhook", nil},
		{"one with a user", `{"request": {"path": "/mail"}, "webhook": "https://a@hooks.example.com/"}`, 400, "webhook", nil},
		{"a long key", `{"request": {"path": "/mail"}}`, 400, "255", []string{"Idempotency-Key", strings.Repeat("k", 256)}},
		{"an empty key", `{"request": {"path": "/mail"}}`, 400, "empty", []string{"Idempotency-Key", `""`}},
	} {
		g := h.send("POST", "/v1/jobs", strings.NewReader(c.body), c.header...)
		if g.StatusCode != c.status || !strings.Contains(g.body, c.says) || g.Header.Get("X-Should-Retry") != "false" {
			t.Errorf("%s: %d %s, want %d and %q", c.name, g.StatusCode, g.body, c.status, c.says)
		}
	}
	for path, want := range map[string]int{"/v1/jobs": 405, "/v1/jobs/nobody": 404, "/v1/jobs/nobody/answer": 404, "/v1/jobsandmore": 404} {
		if g := h.get(path); g.StatusCode != want {
			t.Errorf("GET %s: %d, want %d", path, g.StatusCode, want)
		}
	}
	if g := h.get("/v1/jobs/nobody"); !strings.Contains(g.body, "no such job") {
		t.Errorf("%s", g.body)
	}
}

// What its class has no room for is accepted instead, and done when there is: live
// requests and jobs share the class's slots, and there are never more at once.
func TestWhatThereIsNoRoomForBecomesAJob(t *testing.T) {
	var running, peak atomic.Int64
	hold := make(chan struct{})
	h := keeping(t, "  mail: { slots: 2, budget: { latency: 2s, service: 1s }, memory: { limit: 100KiB, per_request: 50KiB }, when_full: persist }", func(w http.ResponseWriter, r *http.Request) {
		if n := running.Add(1); n > peak.Load() {
			peak.Store(n)
		}
		<-hold
		running.Add(-1)
		io.Copy(w, r.Body)
	})
	var live sync.WaitGroup
	var mu sync.Mutex
	var ids []string
	served := 0
	for i := range 12 {
		live.Go(func() {
			g := h.send("POST", fmt.Sprint("/", i), strings.NewReader(fmt.Sprint("body ", i)))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case g.StatusCode == 202 && g.Header.Get("Spillway-Reason") == "accepted":
				ids = append(ids, state(t, g).ID)
				if len(ids) == 8 {
					close(hold)
				}
			case g.StatusCode == 200 && g.body == fmt.Sprint("body ", i):
				served++
			default:
				t.Errorf("%d %v: %s", g.StatusCode, g.Header, g.body)
			}
		})
	}
	live.Wait()
	if served == 0 || len(ids)+served != 12 {
		t.Errorf("%d served, %d accepted of 12", served, len(ids))
	}
	for _, id := range ids {
		h.becomes(id, "done")
	}
	if p := peak.Load(); p != 2 {
		t.Errorf("%d at once, of 2 slots", p)
	}
}

// Attempts go under one key; what may have been done is done again only where twice is
// once.
func TestAJobIsTriedAgain(t *testing.T) {
	for _, c := range []struct {
		name, class, method, first string
		want                       string
		calls                      int
	}{
		{"it was refused", "", "POST", "429", "done", 2},
		{"it broke off", "", "POST", "cut", "unknown", 1},
		{"it broke off, and twice is once by its method", "", "PUT", "cut", "done", 2},
		{"it broke off, and twice is once by its class", ", repeat: on", "POST", "cut", "done", 2},
		{"it failed: that is an answer", "", "POST", "500", "dead", 1},
		{"it failed, and may be tried again", ", repeat: on", "POST", "500", "done", 2},
		{"it says never", ", repeat: on", "POST", "never", "dead", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var mu sync.Mutex
			var keys []string
			h := keeping(t, "jobs: { path: /v1/jobs, pause: { base: 1ms, max: 1ms } }\n  all: { slots: 4"+c.class+" }", func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				keys = append(keys, r.Header.Get("Idempotency-Key"))
				first := len(keys) == 1
				mu.Unlock()
				io.Copy(io.Discard, r.Body)
				switch {
				case !first:
				case c.first == "cut":
					panic(http.ErrAbortHandler)
				case c.first == "never":
					w.Header().Set("X-Should-Retry", "false")
					w.WriteHeader(500)
				default:
					w.Header().Set("Retry-After-Ms", "1")
					var n int
					fmt.Sscan(c.first, &n)
					w.WriteHeader(n)
				}
			})
			id := h.submit(fmt.Sprintf(`{"request": {"method": %q, "path": "/x", "body": "x"}}`, c.method))
			s := h.becomes(id, c.want)
			mu.Lock()
			defer mu.Unlock()
			if len(keys) != c.calls || s.Attempts != int64(c.calls) || keys[0] != `"`+id+`"` || keys[len(keys)-1] != keys[0] {
				t.Errorf("%+v; called under %v, want %d calls under its id", s, keys, c.calls)
			}
		})
	}
}

// A request with a key is done once: the second gets the first's answer, also one that
// was an error, also where the first's caller had gone before it came.
func TestAKeyedRequestIsDoneOnce(t *testing.T) {
	var calls atomic.Int64
	hold := make(chan struct{}, 10)
	h := keeping(t, "jobs: { path: /v1/jobs, answer: 1KiB }\n  all: { slots: 8, keys: on }", func(w http.ResponseWriter, r *http.Request) {
		n := calls.Add(1)
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/error":
			w.WriteHeader(500)
		case "/busy":
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(503)
		case "/held":
			<-hold
		case "/large":
			w.Write(make([]byte, 5000))
		case "/stream":
			w.Header().Set("Content-Type", "text/event-stream")
			for i := range 3 {
				fmt.Fprintf(w, "data: %d\n\n", i)
				w.(http.Flusher).Flush()
			}
			return
		case "/cut":
			panic(http.ErrAbortHandler)
		}
		fmt.Fprintf(w, "%d %s", n, body)
	})
	ask := func(path, key, body string) got {
		return h.send("POST", path, strings.NewReader(body), "Idempotency-Key", key)
	}
	for _, c := range []struct {
		name, path     string
		status, second int
		calls          int64
		replayed       bool
		reason         string
	}{
		{"an answer", "/ok", 200, 200, 1, true, "served"},
		{"an error", "/error", 500, 500, 1, true, "failed"},
		{"a refusal is no answer", "/busy", 503, 503, 2, false, "failed"},
		{"a stream", "/stream", 200, 200, 1, true, "served"},
		{"one too large to be kept", "/large", 200, 422, 1, false, "key_conflict"},
		{"nobody knows", "/cut", 502, 504, 1, false, "unknown"},
	} {
		calls.Store(0)
		first, second := ask(c.path, "k"+c.path, "x"), ask(c.path, `"k`+c.path+`"`, "x")
		if first.StatusCode != c.status || second.StatusCode != c.second || calls.Load() != c.calls ||
			(second.Header.Get("Idempotent-Replayed") == "true") != c.replayed || c.replayed && second.body != first.body || second.Header.Get("Spillway-Reason") != c.reason {
			t.Errorf("%s: %d then %d (%v) after %d calls: %q, %q", c.name, first.StatusCode, second.StatusCode, second.Header, calls.Load(), first.body, second.body)
		}
	}
	if g := ask("/ok", "k/ok", "another"); g.StatusCode != 422 {
		t.Errorf("another body: %d", g.StatusCode)
	}
	calls.Store(0)
	h.hangsUp("POST /held HTTP/1.1\r\nHost: a\r\nIdempotency-Key: gone\r\nContent-Length: 1\r\n\r\nx", func() bool { return calls.Load() == 1 })
	g := ask("/held", "gone", "x")
	if g.StatusCode != 409 || g.Header.Get("Retry-After") == "" || g.Header.Get("Spillway-Reason") != "key_in_progress" {
		t.Errorf("while it runs: %d, %v", g.StatusCode, g.Header)
	}
	if g := ask("/held", "gone", "y"); g.StatusCode != 422 {
		t.Errorf("another body while it runs: %d", g.StatusCode)
	}
	hold <- struct{}{}
	until(t, "its answer is there", func() bool { return ask("/held", "gone", "x").StatusCode == 200 })
	if g := ask("/held", "gone", "x"); g.body != "1 x" || calls.Load() != 1 {
		t.Errorf("%q after %d calls", g.body, calls.Load())
	}
}

// hangsUp sends a request and leaves once it is being served.
func (h *harness) hangsUp(request string, served func() bool) {
	h.Helper()
	c, err := net.Dial("tcp", h.addr)
	if err != nil {
		h.Fatal(err)
	}
	fmt.Fprint(c, request)
	until(h, "it is served", served)
	c.Close()
}

// A stream with a key is not held back to be kept.
func TestAKeyedStreamFlows(t *testing.T) {
	on := make(chan struct{})
	h := keeping(t, "  all: { keys: on }", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		<-on
		fmt.Fprint(w, "data: 2\n\n")
	})
	r, _ := http.NewRequestWithContext(context.Background(), "POST", h.url+"/", strings.NewReader("x"))
	r.Header.Set("Idempotency-Key", "a")
	res, err := h.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	if !lines.Scan() || lines.Text() != "data: 1" {
		t.Fatalf("%q", lines.Text())
	}
	close(on)
	if lines.Scan(); !lines.Scan() || lines.Text() != "data: 2" {
		t.Fatalf("%q", lines.Text())
	}
}
