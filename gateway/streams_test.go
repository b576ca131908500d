package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// slowReader asks for a large answer and reads nothing of it beyond its header.
func slowReader(t *testing.T, h *harness, tenant string) net.Conn {
	t.Helper()
	d := net.Dialer{}
	c, err := d.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.(*net.TCPConn).SetReadBuffer(4 << 10)
	io.WriteString(c, "GET /large HTTP/1.1\r\nHost: x\r\nX-Tenant: "+tenant+"\r\n\r\n")
	line, err := bufio.NewReaderSize(c, 16).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "HTTP/1.1 200") {
		t.Fatalf("%q, %v", line, err)
	}
	return c
}

// D2: callers who ask for much and do not read it hold no slot for longer than it
// takes to see that it is they who are waited for; of one tenant no more than half of
// the streams. Another tenant's light calls are all served.
func TestSlowReadersDoNotHoldThePool(t *testing.T) {
	large := strings.Repeat("spillway", 1<<20) // beyond what sockets hold
	h := start(t, `  all: { slots: 4, streams: { most: 6 }, tenant: { key: "header:X-Tenant", policy: wrr }, budget: { latency: 20s, service: 1ms }, deadline: 20s }`,
		func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/large" {
				io.WriteString(w, large)
				return
			}
			io.WriteString(w, "light")
		})
	for range 3 { // its half
		slowReader(t, h, "slow")
	}
	until(t, "their slots are free", func() bool { s := h.state("all"); return s.Streams == 3 && s.Used == 0 })
	for range 2 { // beyond its half: these keep their slots
		slowReader(t, h, "slow")
	}
	slowReader(t, h, "another")
	until(t, "another's is a stream", func() bool { s := h.state("all"); return s.Streams == 4 && s.Used == 2 })
	for range 20 {
		want(t, h.get("/light", "X-Tenant", "light"), 200, "served", "primary")
	}
	if s := h.state("all"); s.Tally.Running != 6 {
		t.Errorf("%d are running, want all who still read", s.Tally.Running)
	}
}

// D2 at its size: one tenant reads nothing of twenty answers of 50 MiB, and another's
// light calls, as many at once as there are slots, are all served, inside their budget
// of 200 ms, give or take a busy machine.
func TestTwentySlowReadersAndLightCalls(t *testing.T) {
	const slots, readers, calls, budget = 8, 20, 400, 200 * time.Millisecond
	h := start(t, fmt.Sprintf(`  all: { slots: %d, streams: { most: %d }, tenant: { key: "header:X-Tenant", policy: wrr }, budget: { latency: 20s, service: 1ms }, deadline: 20s }`, slots, 2*readers),
		func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/large" {
				io.WriteString(w, "light")
				return
			}
			for range 50 {
				if _, err := w.Write(mebibyte); err != nil {
					return
				}
			}
		})
	light := func() (p99 time.Duration) {
		took := make([]time.Duration, calls)
		var wait sync.WaitGroup
		for caller := range slots {
			wait.Go(func() {
				for i := caller; i < calls; i += slots {
					began := time.Now()
					want(t, h.get("/light", "X-Tenant", "light"), 200, "served", "primary")
					took[i] = time.Since(began)
				}
			})
		}
		wait.Wait()
		slices.Sort(took)
		return took[calls*99/100]
	}
	alone := light()
	for range readers {
		slowReader(t, h, "slow")
	}
	until(t, "their slots are free", func() bool { s := h.state("all"); return s.Streams == readers && s.Used == 0 })
	beside := light()
	t.Logf("p99 of light calls: alone %v, beside %d slow readers %v", alone, readers, beside)
	if beside > 10*budget {
		t.Errorf("p99 of light calls is %v, alone %v; their budget is %v", beside, alone, budget)
	}
	if s := h.state("all"); s.Tally.Running != readers {
		t.Errorf("%d are running, want all who do not read", s.Tally.Running)
	}
}

var mebibyte = make([]byte, 1<<20)

// An answer that has flowed for long enough gives its slot back, however fast it is
// read, and ends when it has flowed for as long as it may.
func TestStreamsGiveTheirSlotBackAndEnd(t *testing.T) {
	h := start(t, "  all: { slots: 1, streams: { after: 50ms, total: 1s } }", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/events" {
			return
		}
		for r.Context().Err() == nil {
			io.WriteString(w, "data: tick\n\n")
			if http.NewResponseController(w).Flush() != nil {
				return
			}
			select {
			case <-r.Context().Done():
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	res, err := h.client.Get(h.url + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	until(t, "its slot is free", func() bool { s := h.state("all"); return s.Streams == 1 && s.Used == 0 })
	want(t, h.get("/"), 200, "served", "primary")
	if b, err := io.ReadAll(res.Body); err == nil {
		t.Errorf("it ended in good order after %d bytes", len(b))
	}
	until(t, "nothing is left", func() bool { s := h.state("all"); return s.Streams == 0 && s.Tally.Running == 0 })
}
