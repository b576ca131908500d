package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/spillway-dev/spillway/config"
)

// Every attempt names the host that the caller asked for, not the copy's address.
func TestEachAttemptKeepsTheCallersHost(t *testing.T) {
	var hosts [2]atomic.Value
	var calls atomic.Int64
	h := start(t, "  all: { match: { path: \"/*\" }, slots: 4, call: { retries: 1, retry_budget: off, backoff: off } }\n",
		func(w http.ResponseWriter, r *http.Request) {
			n := calls.Add(1)
			hosts[n-1].Store(r.Host)
			if n == 1 {
				w.WriteHeader(500)
			}
		})
	req, _ := http.NewRequest("GET", h.url+"/", nil)
	req.Host = "shop.example"
	res, err := h.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	for i := range hosts {
		if got := hosts[i].Load(); got != "shop.example" {
			t.Errorf("attempt %d was for host %v", i+1, got)
		}
	}
}

// A caller whose body breaks off or is malformed says nothing of the copy that was to
// have it: else a few such callers would have every copy put out.
func TestACallersBrokenBodyIsNotTheCopysFault(t *testing.T) {
	h := start(t, "  all: { match: { path: \"/*\" }, slots: 4, call: { retries: 1, breaker: { consecutive: 1 } } }\n",
		func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
	c, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nnonsense\r\n")
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || res.StatusCode != 400 {
		t.Fatalf("%v %v", res, err)
	}
	for _, copy := range h.copies() {
		if copy.Calls["failed"] != 0 || copy.InFlight != 0 {
			t.Errorf("the copy is blamed: %v, %d in flight", copy.Calls, copy.InFlight)
		}
	}
	if a := h.get("/"); a.StatusCode != 200 {
		t.Errorf("then: %d", a.StatusCode)
	}
}

// A copy to which no connection can be made is passed over, as without a policy: that is
// no retry, for nothing was sent.
func TestACopyThatCannotBeReachedIsPassedOver(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := "http://" + l.Addr().String()
	l.Close()
	good := serviceAt(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	h := startConfig(t, two(t, dead, good, "  all: { match: { path: \"/*\" }, slots: 8, call: { breaker: { consecutive: 5 } } }\n"))
	for range 6 {
		if a := h.send("POST", "/", strings.NewReader("what is sent")); a.StatusCode != 200 || a.body != "what is sent" {
			t.Fatalf("%d %q", a.StatusCode, a.body)
		}
	}
}

// What comes behind a body comes behind it in each attempt, also while another attempt
// begins.
func TestTrailersOfABodyGoWithEachAttempt(t *testing.T) {
	var calls atomic.Int64
	var got [2]atomic.Value
	h := start(t, "  all: { match: { path: \"/*\" }, slots: 4, call: { retries: 1, retry_budget: off, backoff: off, timeout: 5s } }\n",
		func(w http.ResponseWriter, r *http.Request) {
			n := calls.Add(1)
			io.Copy(io.Discard, r.Body)
			got[n-1].Store(r.Trailer.Get("Digest"))
			if n == 1 {
				w.WriteHeader(500)
			}
		})
	req, _ := http.NewRequest("PUT", h.url+"/", io.MultiReader(strings.NewReader("abc")))
	req.Trailer = http.Header{"Digest": {"d1"}}
	res, err := h.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if a, b := got[0].Load(), got[1].Load(); a != "d1" || b != "d1" {
		t.Errorf("trailers %v, %v", a, b)
	}
}

// What a service has of connections is bounded by us: a call that finds none free says
// nothing of the service, and does not open its breaker.
func TestNoFreeConnectionIsNotTheServicesFault(t *testing.T) {
	hang := make(chan struct{})
	var calls atomic.Int64
	at := serviceAt(t, func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			<-hang
		}
	})
	cfg, err := config.Parse("test.yaml", fmt.Appendf(nil, "version: 1\nupstreams: { app: { url: %q, connections: 1 } }\nclasses:\n  all: { match: { path: \"/*\" }, slots: 8, call: { breaker: { consecutive: 2 } } }\n", at))
	if err != nil {
		t.Fatal(err)
	}
	h := startConfig(t, cfg)
	var all sync.WaitGroup
	all.Go(func() { h.get("/") })
	until(t, "the connection is in use", func() bool { return calls.Load() == 1 })
	for range 4 {
		if a := h.get("/"); a.Header.Get("Spillway-Reason") == "breaker_open" || a.StatusCode < 500 {
			t.Errorf("%d %q", a.StatusCode, a.Header.Get("Spillway-Reason"))
		}
	}
	close(hang)
	all.Wait()
	if a := h.get("/"); a.StatusCode != 200 {
		t.Errorf("then: %d %q", a.StatusCode, a.Header.Get("Spillway-Reason"))
	}
}

// One layer owns retries. A client that tries again whatever it is answered, as SDKs do,
// in front of a gateway that does: it is told not to, and the service sees no more
// attempts than the gateway may make.
func TestLayersDoNotMultiplyAttempts(t *testing.T) {
	for _, status := range []int{429, 500, 503} {
		var calls atomic.Int64
		h := start(t, "  all: { match: { path: \"/*\" }, slots: 4, call: { retries: 2, retry_budget: off, backoff: off } }\n",
			func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				w.WriteHeader(status)
			})
		sdk := func() (tries int) {
			for tries = 1; tries <= 4; tries++ {
				if a := h.get("/"); a.StatusCode < 400 || a.Header.Get("X-Should-Retry") == "false" {
					break
				}
			}
			return tries
		}
		if tries := sdk(); tries != 1 || calls.Load() != 3 {
			t.Errorf("%d: %d requests of the client became %d attempts; want 1 and 3", status, tries, calls.Load())
		}
		calls.Store(0)
		if a := h.get("/"); a.Header.Get("X-Envoy-Attempt-Count") != "3" {
			t.Errorf("the answer says that it is attempt %q", a.Header.Get("X-Envoy-Attempt-Count"))
		}
	}
}
