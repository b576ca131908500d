package gateway_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/spillway-dev/spillway/gateway"
)

// scripted is an upstream that notes what it is asked, byte for byte up to the end
// of the header, and answers with text, byte for byte.
func scripted(t testing.TB, text string) (url string, asked chan string) {
	l := listen(t)
	asked = make(chan string, 10)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				br := bufio.NewReader(c)
				for {
					var head strings.Builder
					for !strings.HasSuffix(head.String(), "\r\n\r\n") {
						line, err := br.ReadString('\n')
						if err != nil {
							return
						}
						head.WriteString(line)
					}
					asked <- head.String()
					io.WriteString(c, text)
				}
			}()
		}
	}()
	return "http://" + l.Addr().String(), asked
}

// say sends text to the gateway and returns the header of what it answers.
func (h *harness) say(text string) string {
	h.Helper()
	c, err := net.Dial("tcp", h.addr)
	if err != nil {
		h.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(soon))
	io.WriteString(c, text)
	var head strings.Builder
	for br := bufio.NewReader(c); !strings.HasSuffix(head.String(), "\r\n\r\n"); {
		line, err := br.ReadString('\n')
		if err != nil {
			h.Fatalf("after %q: %v", head.String(), err)
		}
		head.WriteString(line)
	}
	return head.String()
}

// An answer's framing is one that no caller can read in two ways, whatever the
// upstream says.
func TestFramingThatCannotBeReadInTwoWays(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		lengths    int
	}{
		"no content with a length":    {"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 204 ", 0},
		"the same length twice":       {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\ncontent-length: 1\r\n\r\na", "HTTP/1.1 200 ", 1},
		"hints with a length":         {"HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 103 ", 0},
		"chunks and a length besides": {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", "HTTP/1.1 200 ", 0},
	} {
		t.Run(name, func(t *testing.T) {
			url, _ := scripted(t, c.text)
			h := startAt(t, url, "  all: {}")
			got := h.say("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			if n := strings.Count(strings.ToLower(got), "content-length:"); !strings.HasPrefix(got, c.want) || n != c.lengths {
				t.Errorf("%d lengths, want %d:\n%s", n, c.lengths, got)
			}
		})
	}
}

// What a caller leaves out the upstream is told: the length of no body, where one is
// usual, and a host.
func TestWhatACallerLeavesOut(t *testing.T) {
	url, asked := scripted(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	h := startAt(t, url, "  all: {}")
	h.say("POST / HTTP/1.1\r\nHost: x\r\n\r\n")
	if got := <-asked; !strings.Contains(got, "\r\nContent-Length: 0\r\n") {
		t.Errorf("a POST without a length:\n%s", got)
	}
	h.say("GET / HTTP/1.0\r\n\r\n")
	if got := <-asked; !strings.Contains(got, "\r\nHost: "+strings.TrimPrefix(url, "http://")+"\r\n") {
		t.Errorf("a request without a host:\n%s", got)
	}
}

// HTTP/2 has no request line, so that a method or a path may hold a space; a line
// that is made of them would be another request.
func TestNoRequestLineInAMethodOrAPath(t *testing.T) {
	url, asked := scripted(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	h := startAt(t, url, "  all: {}")
	for _, c := range []struct{ method, path string }{
		{"GET /admin HTTP/1.1", "/"}, {"GET", "/?a HTTP/1.0"}, {"GE,T\t", "/"},
	} {
		if status := h.say2(c.method, c.path); status == "200" {
			t.Errorf("%q %q: answered %s; the upstream was asked\n%s", c.method, c.path, status, <-asked)
		}
	}
	if got := h.say("GET http:admin HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 400 ") {
		t.Errorf("a target without a path: %s", got)
	}
	if len(asked) > 0 {
		t.Errorf("the upstream was asked %q", <-asked)
	}
}

// say2 sends one request over HTTP/2 as it is written, and returns the status, or
// "reset".
func (h *harness) say2(method, path string) (status string) {
	h.Helper()
	c, err := net.Dial("tcp", h.addr)
	if err != nil {
		h.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(soon))
	io.WriteString(c, http2.ClientPreface)
	framer := http2.NewFramer(c, c)
	framer.WriteSettings()
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	for _, f := range [][2]string{{":method", method}, {":scheme", "http"}, {":authority", "x"}, {":path", path}} {
		enc.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
	}
	framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true})
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	for {
		f, err := framer.ReadFrame()
		if err != nil {
			h.Fatal(err)
		}
		switch f := f.(type) {
		case *http2.MetaHeadersFrame:
			return f.PseudoValue("status")
		case *http2.RSTStreamFrame, *http2.GoAwayFrame:
			return "reset"
		}
	}
}

// A stream begins for its caller when it begins, not when it first has something
// to say.
func TestAStreamBeginsBeforeItsFirstByte(t *testing.T) {
	let := make(chan struct{})
	h := start(t, "  all: {}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		<-let
		io.WriteString(w, "data: 0\n\n")
	})
	timer := time.AfterFunc(soon, func() { close(let) })
	defer func() {
		if timer.Stop() {
			close(let)
		}
	}()
	res, err := h.client.Get(h.url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	select {
	case <-let:
		t.Error("its header came with its first byte")
	default:
	}
}

// A caller who leaves inside a stream ends it, also where calls end with their
// callers.
func TestHangingUpInsideAStreamEndsTheCall(t *testing.T) {
	for _, cancel := range []string{"on", "off"} {
		t.Run("cancel "+cancel, func(t *testing.T) {
			ended := make(chan struct{})
			h := start(t, fmt.Sprintf("  all: { slots: 1, abandoned: { cancel: %s } }", cancel), func(w http.ResponseWriter, r *http.Request) {
				io.WriteString(w, "first")
				w.(http.Flusher).Flush()
				<-r.Context().Done()
				close(ended)
			})
			res, err := h.client.Get(h.url)
			if err != nil {
				t.Fatal(err)
			}
			io.ReadFull(res.Body, make([]byte, 5))
			res.Body.Close()
			select {
			case <-ended:
			case <-time.After(soon):
				t.Error("the call goes on")
			}
			until(t, "the slot is free", func() bool { return h.state("all").Used == 0 })
		})
	}
}

// Once the drain's limit has passed nothing keeps the gateway: not a stream on
// which nothing moves, and not a call whose deadline is far.
func TestNothingKeepsAGatewayBeyondItsDrainLimit(t *testing.T) {
	for path, events := range map[string]bool{"/stream": true, "/call": false} {
		t.Run(path, func(t *testing.T) {
			began := make(chan struct{})
			h := start(t, "  all: { slots: 1, deadline: 10m, abandoned: { cancel: on } }", func(w http.ResponseWriter, r *http.Request) {
				if events {
					io.WriteString(w, "first")
					w.(http.Flusher).Flush()
				}
				close(began)
				<-r.Context().Done()
			}, func(o *gateway.Options) { o.DrainLimit = 50 * time.Millisecond })
			go h.try("GET", path, nil)
			<-began
			stopped := make(chan struct{})
			go func() { h.stop(); close(stopped) }()
			select {
			case <-stopped:
			case <-time.After(soon):
				t.Fatal("it has not stopped")
			}
		})
	}
}
