package gateway_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// h2c returns a client that speaks HTTP/2 without TLS and nothing else.
func h2c(t testing.TB) *http.Client {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: p}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 3 * soon}
}

func readResponse(c net.Conn) (got, error) {
	return read(http.ReadResponse(bufio.NewReader(c), nil))
}

// full starts a gateway whose one slot is taken and whose room is full.
func full(t *testing.T) *harness {
	t.Helper()
	b := newBlocker()
	h := start(t, "  all: { slots: 1, memory: { limit: 1KiB, per_request: 1KiB } }", b.ServeHTTP)
	first := make(chan got, 1)
	go func() { first <- h.get("/first") }()
	<-b.began
	t.Cleanup(func() {
		b.let <- struct{}{}
		<-first
		h.stop()
	})
	return h
}

// E6: a refusal reaches a caller who is sending 20 MiB, every time.
func TestARefusalReachesACallerWhoIsStillSending(t *testing.T) {
	const rounds = 50 // of each kind: 200 of 20 MiB
	large := bytes.Repeat([]byte("x"), 20<<20)
	h := full(t)
	keep := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(keep.CloseIdleConnections)
	expect := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: soon}}
	t.Cleanup(expect.CloseIdleConnections)
	tests := []struct {
		name   string
		client *http.Client
		expect bool
		body   func() io.Reader
	}{
		{"HTTP/1.1", keep, false, func() io.Reader { return bytes.NewReader(large) }},
		{"HTTP/1.1, chunked", keep, false, func() io.Reader { return io.MultiReader(bytes.NewReader(large)) }},
		{"HTTP/1.1, Expect", expect, true, func() io.Reader { return bytes.NewReader(large) }},
		{"HTTP/1.1, a small body", keep, false, func() io.Reader { return strings.NewReader("small") }},
		{"HTTP/2", h2c(t), false, func() io.Reader { return bytes.NewReader(large) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range rounds {
				req, _ := http.NewRequest("POST", h.url, tt.body())
				if tt.expect {
					req.Header.Set("Expect", "100-continue")
				}
				res, err := read(tt.client.Do(req))
				if err != nil {
					t.Fatal(err)
				}
				want(t, res, 503, "queue_bytes", "refusal")
			}
		})
	}
}

// The same for a caller who reads nothing before it has sent everything.
func TestARefusalReachesACallerWhoSendsFirst(t *testing.T) {
	h := full(t)
	for range 10 {
		c := h.dial("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", 20<<20)
		if _, err := c.Write(bytes.Repeat([]byte("x"), 20<<20)); err != nil {
			t.Fatalf("sending: %v", err)
		}
		res, err := readResponse(c)
		if err != nil {
			t.Fatal(err)
		}
		want(t, res, 503, "queue_bytes", "refusal")
	}
}

// A caller who sends slowly has its refusal at once, and its connection is used
// again only if the body came.
func TestARefusalDoesNotWaitForASlowBody(t *testing.T) {
	h := full(t)
	t.Run("the body comes", func(t *testing.T) {
		c := h.dial("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\n\r\nhalf")
		r := bufio.NewReader(c)
		res, err := read(http.ReadResponse(r, nil))
		if err != nil {
			t.Fatal(err)
		}
		want(t, res, 503, "queue_bytes", "refusal")
		fmt.Fprint(c, "halfGET /next HTTP/1.1\r\nHost: x\r\n\r\n")
		next, err := read(http.ReadResponse(r, nil))
		if err != nil {
			t.Fatal(err)
		}
		want(t, next, 503, "queue_bytes", "refusal")
	})
	t.Run("the body does not come", func(t *testing.T) {
		c := h.dial("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 80\r\n\r\nhalf")
		r := bufio.NewReader(c)
		res, err := read(http.ReadResponse(r, nil))
		if err != nil {
			t.Fatal(err)
		}
		want(t, res, 503, "queue_bytes", "refusal")
		if rest, _ := io.ReadAll(r); len(rest) != 0 {
			t.Errorf("then came %q", rest)
		}
	})
}

func TestRequestsWithoutAClass(t *testing.T) {
	h := start(t, "  all: { match: { path: \"/app/*\" }, slots: 1 }", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.URL.EscapedPath())
	})
	tests := []struct {
		path   string
		status int
		seen   string // by the service
	}{
		{"/app/x", 200, "/app/x"},
		{"/app/a%2Fb", 200, "/app/a%2Fb"},
		{"/app/.well-known/y", 200, "/app/.well-known/y"},
		{"/app/./x/", 200, "/app/x/"},
		{"/other/../app/x", 200, "/app/x"},
		{"/app/../other", 404, ""},
		{"/app/..%2Fother", 400, ""},
		{"/app/%2e%2e/other", 400, ""},
		{"/", 404, ""},
	}
	for _, tt := range tests {
		c := h.dial("GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", tt.path)
		res, err := readResponse(c)
		if err != nil {
			t.Fatalf("%s: %v", tt.path, err)
		}
		if res.StatusCode != tt.status || tt.status == 200 && res.body != tt.seen {
			t.Errorf("%s: answered %d %q, want %d %q", tt.path, res.StatusCode, res.body, tt.status, tt.seen)
		}
		if tt.status != 200 {
			want(t, res, tt.status, "bad_request", "refusal")
			var problem struct {
				Status       int
				Reason, Rung string
			}
			if err := json.Unmarshal([]byte(res.body), &problem); err != nil || problem.Status != tt.status || problem.Reason != "bad_request" || problem.Rung != "refusal" {
				t.Errorf("%s: %v: %s", tt.path, err, res.body)
			}
		}
	}
	if n := h.state("all").Tally.Offered; n != 5 {
		t.Errorf("%d offered, want the 5 that have a class", n)
	}
}
