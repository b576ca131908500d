package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/test/need"
)

// B1: services that break off in every phase, callers that hang up in every
// phase, deadlines and panics, all at once; at the end no slot is used, every
// account closes, and nobody is left running (the harness and goleak see to
// that).
func TestMixedCallsLeakNothing(t *testing.T) {
	calls := 10_000
	switch {
	case testing.Short():
		calls = 400
	case need.Race: // five times as slow
		calls = 2000
	}
	h := start(t, "  all: { slots: 8, deadline: 300ms, abandoned: { cancel: off }, order: fifo }\n", func(w http.ResponseWriter, r *http.Request) {
		io.CopyN(io.Discard, r.Body, 1000)
		switch r.URL.Path {
		case "/before-headers":
			panic(http.ErrAbortHandler)
		case "/mid-body":
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, "some")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case "/mid-chunks":
			io.WriteString(w, "some")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case "/after-trailers":
			w.Header().Set("Trailer", "X-Sum")
			io.WriteString(w, "all")
			w.Header().Set("X-Sum", "1")
			w.Header().Set("Connection", "close")
		case "/early":
			w.WriteHeader(413)
		case "/slow":
			timer := time.NewTimer(20 * time.Millisecond)
			<-timer.C
		case "/error":
			w.WriteHeader(500)
		default:
			io.Copy(io.Discard, r.Body)
			io.WriteString(w, "ok")
		}
	})
	paths := []string{"/ok", "/ok", "/before-headers", "/mid-body", "/mid-chunks", "/after-trailers", "/early", "/slow", "/error"}
	two, one := h2c(t), &http.Client{Transport: &http.Transport{}, Timeout: 3 * soon}
	defer one.CloseIdleConnections()
	var wait sync.WaitGroup
	for worker := range 16 {
		wait.Go(func() {
			dice := rand.New(rand.NewPCG(1, uint64(worker)))
			for range calls / 16 {
				ctx, hangUp := context.WithCancel(context.Background())
				if dice.IntN(4) == 0 {
					time.AfterFunc(time.Duration(dice.IntN(5000))*time.Microsecond, hangUp)
				}
				method, body := "GET", io.Reader(nil)
				if dice.IntN(2) == 0 {
					method, body = "POST", bytes.NewReader(make([]byte, dice.IntN(200_000)))
				}
				req, _ := http.NewRequestWithContext(ctx, method, h.url+paths[dice.IntN(len(paths))], body)
				if dice.IntN(10) == 0 {
					req.Header.Set("X-Envoy-Upstream-Rq-Timeout-Ms", "3")
				}
				client := one
				if dice.IntN(2) == 0 {
					client = two
				}
				if res, err := client.Do(req); err == nil {
					if dice.IntN(4) == 0 {
						io.CopyN(io.Discard, res.Body, 2)
					} else {
						io.Copy(io.Discard, res.Body)
					}
					res.Body.Close()
				}
				hangUp()
			}
		})
	}
	wait.Wait()
	until(t, "every slot is free", func() bool { s := h.state("all"); return s.Used == 0 && s.Waiting == 0 })
	if n := h.state("all").Tally.Answered[reason.Served]; n < int64(calls)/10 {
		t.Errorf("only %d of %d were served: the mix is not one", n, calls)
	}
}

// K3: what is classified is what is enforced. At twice what it can do, the
// flood is refused and the class beside it is not.
func TestAFloodInOneClassDoesNotTouchTheOther(t *testing.T) {
	h := start(t, `  checkout: { match: { path: "/checkout/*" }, slots: 4 }
  analytics: { match: { path: "/analytics/*" }, slots: 1, when_full: drop, memory: { limit: 64KiB, per_request: 64KiB } }
`, func(w http.ResponseWriter, r *http.Request) {
		timer := time.NewTimer(2 * time.Millisecond)
		<-timer.C
	})
	var wait sync.WaitGroup
	answers := make([]map[string]int, 12)
	for worker := range answers {
		path := "/analytics/x"
		if worker < 4 {
			path = "/checkout/x"
		}
		answers[worker] = make(map[string]int)
		wait.Go(func() {
			for range 50 {
				res, err := h.try("GET", path, nil)
				if err != nil {
					t.Error(err)
					return
				}
				answers[worker][res.Header.Get("Spillway-Reason")]++
			}
		})
	}
	wait.Wait()
	for worker, a := range answers {
		if worker < 4 && a["served"] != 50 {
			t.Errorf("checkout's caller %d: %v", worker, a)
		}
	}
	if n := h.state("analytics").Tally.Answered[reason.Dropped]; n == 0 {
		t.Errorf("nothing of the flood was dropped: %v", answers)
	}
}

// C5: five hundred uploads of 10 MiB that wait are counted with what they hold, and
// their bodies are not read: memory follows the budget, not the bodies. A budget that
// holds what is held of all of them refuses none; of a smaller one the surplus is
// refused.
func TestWaitingUploadsAreBoundedInBytes(t *testing.T) {
	const each = 16<<10 + 64<<10 // for itself, and of its body
	for _, budget := range []int{4 << 20, 256 << 20} {
		t.Run(fmt.Sprintf("%d MiB", budget>>20), func(t *testing.T) {
			uploads, body := 500, 10<<20
			if testing.Short() || need.Race {
				uploads = 150
			}
			fit := min(budget/each, uploads)
			b := newBlocker()
			h := start(t, fmt.Sprintf("  all: { slots: 1, order: fifo, memory: { limit: %dB, per_request: 1KiB } }", budget), b.ServeHTTP)
			first := make(chan got, 1)
			go func() { first <- h.get("/") }()
			<-b.began
			before := inUse()
			reasons := make(chan string, uploads)
			var callers sync.WaitGroup
			var conns []net.Conn
			for range uploads {
				c := h.dial("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", body)
				c.(*net.TCPConn).SetWriteBuffer(16 << 10)
				conns = append(conns, c)
				callers.Go(func() { // as much of it as is taken
					for sent := 0; sent < body; sent += len(chunk) {
						if _, err := c.Write(chunk); err != nil {
							return
						}
					}
				})
				callers.Go(func() {
					if res, err := http.ReadResponse(bufio.NewReaderSize(c, 512), nil); err == nil {
						reasons <- res.Header.Get("Spillway-Reason")
					}
				})
			}
			until(t, "the surplus is refused, the rest waits", func() bool {
				return len(reasons)+h.state("all").Waiting == uploads && len(reasons) >= uploads-fit
			})
			s, grown := h.state("all"), inUse()-before
			t.Logf("%d of %d wait with %d KiB; memory grew by %d KiB", s.Waiting, uploads, s.WaitingBytes>>10, grown>>10)
			if s.Waiting < fit/2 || s.Waiting > fit || s.WaitingBytes > int64(budget) {
				t.Errorf("%d wait with %d bytes, about %d fit into %d", s.Waiting, s.WaitingBytes, fit, budget)
			}
			// The callers' own goroutines and buffers live in this process, too.
			if held := fit * each; grown > int64(held+held/5+uploads*(32<<10)) {
				t.Errorf("memory grew by %d bytes for %d that are held and a budget of %d", grown, held, budget)
			}
			for range len(reasons) {
				if why := <-reasons; why != "queue_bytes" {
					t.Errorf("refused with %s, want queue_bytes", why)
				}
			}
			for _, c := range conns {
				c.(*net.TCPConn).SetLinger(0) // else the end stands in line behind what nobody reads
				c.Close()
			}
			callers.Wait()
			until(t, "the callers have left", func() bool { return h.state("all").Waiting == 0 })
			b.let <- struct{}{}
			want(t, <-first, 200, "served", "primary")
		})
	}
}

// chunk is what an upload is made of.
var chunk = make([]byte, 64<<10)

// inUse is the memory in use after a collection, stacks included.
func inUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// K7, K10: nothing a caller writes into a header makes anything panic, moves it
// ahead, or makes a refusal tell of the gate's insides.
func TestHostileHeaders(t *testing.T) {
	h := start(t, `  all:
    slots: 4
    importance: { key: "header:X-Importance", levels: [user, prefetch] }
    tenant: { key: "header:X-Tenant", cost: "header:X-Cost", policy: drr }
`, func(http.ResponseWriter, *http.Request) {})
	values := []string{"", "-1", "100000", "1e309", "NaN", "user", strings.Repeat("9", 400), strings.Repeat("x", 8000), "\xff\xfe", "ü", "a,b", "0x10", "%n%s", "{{.}}", "\tuser"}
	for _, name := range []string{"X-Importance", "X-Tenant", "X-Cost", "Grpc-Timeout", "X-Envoy-Upstream-Rq-Timeout-Ms", "X-Envoy-Expected-Rq-Timeout-Ms", "Cookie", "Content-Type", "Accept", "Upgrade", "X-Request-Id"} {
		for _, v := range values {
			c := h.dial("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s: %s\r\n%[1]s: second\r\n\r\n", name, v)
			res, err := readResponse(c)
			if err != nil {
				t.Fatalf("%s: %.40q: %v", name, v, err)
			}
			if res.StatusCode != 200 && res.StatusCode != 400 && res.StatusCode != 503 && res.StatusCode != 504 {
				t.Errorf("%s: %.40q: answered %d", name, v, res.StatusCode)
			}
		}
	}
}

func TestRefusalsTellNothingOfTheInside(t *testing.T) {
	h := full(t)
	res := h.get("/")
	var problem map[string]any
	if err := json.Unmarshal([]byte(res.body), &problem); err != nil {
		t.Fatal(err)
	}
	known := []string{"type", "title", "status", "detail", "reason", "rung", "class", "retry_after_ms"}
	for name := range problem {
		if !slices.Contains(known, name) {
			t.Errorf("the body has %q: %s", name, res.body)
		}
	}
}

// curl is the client that everybody has.
func TestCurl(t *testing.T) {
	curl := need.Command(t, "curl")
	h := start(t, "  all: { slots: 4 }", func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%s %d", r.Method, n)
	})
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"HTTP/1.1", []string{"--http1.1"}, "GET 0 1.1 200 served"},
		{"h2c by upgrade of knowledge", []string{"--http2-prior-knowledge"}, "GET 0 2 200 served"},
		{"a POST", []string{"--http1.1", "-d", "abc"}, "POST 3 1.1 200 served"},
		{"a large POST, which asks to continue", []string{"--http1.1", "--data-binary", "@-", "-H", "Expect: 100-continue"}, "POST 5000000 1.1 200 served"},
		{"a chunked POST over HTTP/2", []string{"--http2-prior-knowledge", "--data-binary", "@-", "-H", "Transfer-Encoding: chunked"}, "POST 5000000 2 200 served"},
		{"HEAD", []string{"--http1.1", "-I", "-o", "/dev/null"}, " 1.1 200 served"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"-sS", "--max-time", "10", "-w", " %{http_version} %{http_code} %header{spillway-reason}"}, tt.args...)
			cmd := exec.Command(curl, append(args, h.url)...)
			cmd.Stdin = bytes.NewReader(make([]byte, 5_000_000))
			out, err := cmd.CombinedOutput()
			if err != nil || string(out) != tt.want {
				t.Errorf("%v: %q, want %q", err, out, tt.want)
			}
		})
	}
}
