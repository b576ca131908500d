package hostile_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// raw is an HTTP/2 connection on which any frame can be sent.
type raw struct {
	net.Conn
	*http2.Framer
	hpack *hpack.Encoder
	block bytes.Buffer
	next  uint32
}

// speak opens one, without TLS.
func speak(t testing.TB, addr string, settings ...http2.Setting) *raw {
	t.Helper()
	c := dial(t, addr, http2.ClientPreface)
	r := &raw{Conn: c, Framer: http2.NewFramer(c, c), next: 1}
	r.hpack = hpack.NewEncoder(&r.block)
	r.AllowIllegalWrites = true
	if err := r.WriteSettings(settings...); err != nil {
		t.Fatal(err)
	}
	// From here on one goroutine may read while another writes.
	if !r.until(func(f http2.Frame) bool { s, ok := f.(*http2.SettingsFrame); return ok && !s.IsAck() }) {
		t.Fatal("no settings came")
	}
	r.WriteSettingsAck()
	return r
}

// fields encodes pairs of names and values.
func (r *raw) fields(pairs ...string) []byte {
	r.block.Reset()
	for i := 0; i+1 < len(pairs); i += 2 {
		r.hpack.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return bytes.Clone(r.block.Bytes())
}

// ask sends a request and returns its stream.
func (r *raw) ask(end bool, pairs ...string) uint32 {
	id := r.next
	r.next += 2
	r.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: r.fields(pairs...), EndStream: end, EndHeaders: true})
	return id
}

func get(path string, more ...string) []string {
	return append([]string{":method", "GET", ":scheme", "http", ":authority", "x", ":path", path}, more...)
}

// until reads frames until one is what is looked for, and reports whether it came
// before the connection ended.
func (r *raw) until(is func(http2.Frame) bool) bool {
	for {
		f, err := r.ReadFrame()
		if err != nil {
			return false
		}
		if is(f) {
			return true
		}
	}
}

// over reports whether a stream has come to its end, one way or another.
func over(id uint32) func(http2.Frame) bool {
	return func(f http2.Frame) bool {
		switch f := f.(type) {
		case *http2.RSTStreamFrame:
			return f.StreamID == id
		case *http2.HeadersFrame:
			return f.StreamID == id && f.StreamEnded()
		case *http2.DataFrame:
			return f.StreamID == id && f.StreamEnded()
		}
		return false
	}
}

// TestDowngrade: what HTTP/2 can carry and HTTP/1.1 cannot is refused, or arrives
// as one request with the same body.
func TestDowngrade(t *testing.T) {
	smuggle := "\r\n\r\nGET " + smuggled + " HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, tt := range []struct {
		name    string
		fields  []string
		data    string
		arrives bool
	}{
		{"a plain one", get("/h2"), "", true},
		{"with a body", []string{":method", "POST", ":scheme", "http", ":authority", "x", ":path", "/h2", "content-length", "3"}, "abc", true},
		{"a body without a length", []string{":method", "POST", ":scheme", "http", ":authority", "x", ":path", "/h2"}, "abc", true},
		{"a body that is a request", []string{":method", "POST", ":scheme", "http", ":authority", "x", ":path", "/h2"}, smuggle, true},
		{"a length that is too large", []string{":method", "POST", ":scheme", "http", ":authority", "x", ":path", "/h2", "content-length", "99"}, "abc", false},
		{"a length that is none", []string{":method", "POST", ":scheme", "http", ":authority", "x", ":path", "/h2", "content-length", "+3"}, "abc", false},
		{"two lengths", []string{":method", "POST", ":scheme", "http", ":authority", "x", ":path", "/h2", "content-length", "3", "content-length", "4"}, "abc", false},
		{"chunked", []string{":method", "POST", ":scheme", "http", ":authority", "x", ":path", "/h2", "transfer-encoding", "chunked"}, "0" + smuggle, false},
		{"connection", get("/h2", "connection", "x-tenant"), "", false},
		{"upgrade", get("/h2", "upgrade", "websocket"), "", false},
		{"te", get("/h2", "te", "gzip"), "", false},
		{"te for trailers", get("/h2", "te", "trailers"), "", true},
		{"a line end in a value", get("/h2", "x-a", "b"+smuggle), "", false},
		{"a line feed in a value", get("/h2", "x-a", "b\nx-c: d"), "", false},
		{"a null in a value", get("/h2", "x-a", "b\x00c"), "", false},
		{"a line end in a name", get("/h2", "x-a: b\r\nx-c", "d"), "", false},
		{"a colon in a name", get("/h2", "x-a:", "d"), "", false},
		{"a space in a name", get("/h2", "x-a ", "d"), "", false},
		{"capitals in a name", get("/h2", "X-A", "d"), "", false},
		{"an empty name", get("/h2", "", "d"), "", false},
		{"a line end in the path", get("/h2 HTTP/1.1" + smuggle), "", false},
		{"a space in the path", get("/h2 b"), "", true},
		{"an empty path", get(""), "", false},
		{"another host as path", get("http://192.0.2.1/h2"), "", false},
		{"a line end in the host", []string{":method", "GET", ":scheme", "http", ":authority", "x" + smuggle, ":path", "/h2"}, "", false},
		{"a line end in the method", []string{":method", "GET /h2 HTTP/1.1" + smuggle, ":scheme", "http", ":authority", "x", ":path", "/h2"}, "", false},
		{"a space in the method", []string{":method", "GET " + smuggled, ":scheme", "http", ":authority", "x", ":path", "/h2"}, "", false},
		{"two paths", get("/h2", ":path", smuggled), "", false},
		{"a pseudo-field after others", []string{":method", "GET", ":scheme", "http", "x-a", "b", ":path", "/h2", ":authority", "x"}, "", false},
		{"a pseudo-field nobody knows", append([]string{":evil", "1"}, get("/h2")...), "", false},
		{"two hosts", get("/h2", "host", "y"), "", true},
		{"a tunnel", []string{":method", "CONNECT", ":authority", "192.0.2.1:22"}, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := record(t)
			g := stand(t, r.addr, "")
			c := speak(t, g.addr)
			id := c.ask(tt.data == "", tt.fields...)
			if tt.data != "" {
				c.WriteData(id, true, []byte(tt.data))
			}
			c.until(over(id))
			g.behaves("/well")
			if n := len(r.about(smuggled)); n > 0 {
				t.Errorf("%d smuggled requests arrived", n)
			}
			came := r.about("/h2")
			if len(came) > 1 || tt.arrives != (len(came) == 1 && came[0].complete()) {
				t.Fatalf("%d arrived: %+v", len(came), came)
			}
			if !tt.arrives {
				return
			}
			if a := came[0]; len(a.odd) > 0 || a.body != tt.data || len(a.values("Host")) != 1 || a.values("Host")[0] != "x" {
				t.Errorf("%+v arrived", a)
			}
		})
	}
}

// TestDowngradeOfNothing: a body that was said to be none is none. Whether its
// request arrives before it is broken off is a matter of time.
func TestDowngradeOfNothing(t *testing.T) {
	r := record(t)
	g := stand(t, r.addr, "")
	c := speak(t, g.addr)
	id := c.ask(false, ":method", "POST", ":scheme", "http", ":authority", "x", ":path", "/h2", "content-length", "0")
	c.WriteData(id, true, []byte("GET "+smuggled+" HTTP/1.1\r\nHost: x\r\n\r\n"))
	c.until(over(id))
	g.behaves("/well")
	came := r.about("/h2")
	if len(r.about(smuggled)) > 0 || len(came) > 1 || len(came) == 1 && (came[0].body != "" || len(came[0].odd) > 0) {
		t.Errorf("%+v arrived, and %d smuggled", came, len(r.about(smuggled)))
	}
}

// TestHTTP2TrailersForgeNothing: a field after the body is no field before it.
func TestHTTP2TrailersForgeNothing(t *testing.T) {
	r := record(t)
	c := speak(t, stand(t, r.addr, "").addr)
	id := c.ask(false, ":method", "POST", ":scheme", "http", ":authority", "x", ":path", "/h2", "trailer", "x-tenant, x-sum")
	c.WriteData(id, false, []byte("abc"))
	c.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: c.fields("x-sum", "1", "x-tenant", "forged", "x-forwarded-for", "192.0.2.1"), EndStream: true, EndHeaders: true})
	c.until(over(id))
	came := r.about("/h2")
	if len(came) != 1 || len(came[0].values("X-Tenant")) > 0 || strings.Contains(fmt.Sprint(came[0].header, came[0].trailer), "192.0.2.1") {
		t.Errorf("%+v arrived", came)
	}
}

// TestContinuationFlood: a header that goes on in frame after frame ends the
// connection when it is too long, long before it has ended by itself.
func TestContinuationFlood(t *testing.T) {
	attack := func(t *testing.T, limits string, frames int) (sent int, ended bool) {
		c := speak(t, stand(t, record(t).addr, limits).addr)
		end := make(chan struct{})
		go func() {
			defer close(end)
			c.until(func(f http2.Frame) bool { _, away := f.(*http2.GoAwayFrame); return away })
		}()
		c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: c.fields(get("/h2")...)})
		for ; sent < frames; sent++ {
			if err := c.WriteContinuation(1, false, c.fields("x-a", strings.Repeat("b", 8000))); err != nil {
				return sent, true
			}
			select {
			case <-end:
				return sent, true
			default:
			}
		}
		select {
		case <-end:
			return sent, true
		case <-time.After(quiet):
			return sent, false
		}
	}
	if sent, ended := attack(t, "", 10_000); !ended {
		t.Errorf("%d frames were taken", sent)
	}
	if _, ended := attack(t, "limits: { header: 1MiB }", 20); ended {
		t.Error("undefended, it was ended all the same: what does this test?")
	}
}

// stuck runs a service that does not come to an end with what is slow until it is
// let go, which it is at the end of the test at the latest.
func stuck(t *testing.T) (addr string, letGo func()) {
	release := make(chan struct{})
	letGo = sync.OnceFunc(func() { close(release) })
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-release
		}
	}))
	t.Cleanup(func() { letGo(); s.Close() })
	return strings.TrimPrefix(s.URL, "http://"), letGo
}

// TestRapidReset (CVE-2023-44487): a connection that breaks off request after
// request is cut, and one that breaks off some of many is not.
func TestRapidReset(t *testing.T) {
	attack := func(t *testing.T, limits string, whole, broken int) (cut bool) {
		upstream, letGo := stuck(t)
		g := stand(t, upstream, limits)
		c := speak(t, g.addr)
		for range whole {
			if !c.until(over(c.ask(true, get("/fast")...))) {
				return true
			}
		}
		last := c.next + uint32(2*broken) // the stream of the request after them
		ended := make(chan bool, 1)
		go func() { ended <- !c.until(over(last)) }()
		offered := func() bool { return g.Gate("app").States()[0].Tally.Offered >= int64(c.next/2) }
		for range broken {
			id := c.ask(true, get("/slow")...)
			until(t, "it is offered, or the connection cut", func() bool {
				select {
				case cut = <-ended:
					return true
				default:
					return offered()
				}
			})
			if cut {
				return true
			}
			c.WriteRSTStream(id, http2.ErrCodeCancel)
		}
		letGo()
		c.ask(true, get("/fast")...)
		return <-ended
	}
	if !attack(t, "limits: { resets: 20 }", 0, 60) {
		t.Error("60 requests were broken off and the connection goes on")
	}
	if attack(t, "limits: { resets: 1000 }", 0, 60) {
		t.Error("undefended, the connection was cut all the same: what does this test?")
	}
	if attack(t, "limits: { resets: 20 }", 400, 25) {
		t.Error("one in seventeen was broken off, and the connection was cut")
	}
}

// TestResetBurst: what net/http bounds by itself: requests that are broken off
// faster than they are begun.
func TestResetBurst(t *testing.T) {
	upstream, letGo := stuck(t)
	g := stand(t, upstream, "limits: { resets: 1000000, streams: 10 }")
	c := speak(t, g.addr)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for range 100_000 {
			id := c.ask(true, get("/slow")...)
			if c.WriteRSTStream(id, http2.ErrCodeCancel) != nil {
				return
			}
		}
	}()
	calm := false
	c.until(func(f http2.Frame) bool {
		a, ok := f.(*http2.GoAwayFrame)
		calm = ok && a.ErrCode == http2.ErrCodeEnhanceYourCalm
		return calm
	})
	if !calm {
		t.Error("the connection was not told to calm down")
	}
	c.Close()
	<-sent
	letGo()
	until(t, "no slot is held", func() bool { return g.Gate("app").States()[0].Used == 0 })
}

// TestNoWindow: an HTTP/2 caller who asks and opens no window for answers does not
// keep them for ever.
func TestNoWindow(t *testing.T) {
	g := stand(t, record(t).addr, "limits: { write_stall: 300ms }")
	c := speak(t, g.addr, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	id := c.ask(true, get("/h2")...)
	reset := func(f http2.Frame) bool {
		s, ok := f.(*http2.RSTStreamFrame)
		return ok && s.StreamID == id
	}
	if !c.until(reset) {
		t.Error("the stream was not ended")
	}

	lax := speak(t, stand(t, record(t).addr, "limits: { write_stall: "+long+" }").addr, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	id = lax.ask(true, get("/h2")...)
	lax.SetReadDeadline(time.Now().Add(time.Second))
	if lax.until(reset) {
		t.Error("undefended, it was ended all the same: what does this test?")
	}
}

// TestPingFlood: of frames that ask for an answer which nobody reads, net/http
// keeps only so many answers.
func TestPingFlood(t *testing.T) {
	g := stand(t, record(t).addr, "limits: { write_stall: "+long+" }")
	c := speak(t, g.addr)
	var many bytes.Buffer
	for f := http2.NewFramer(&many, nil); many.Len() < 1<<20; {
		f.WritePing(false, [8]byte{})
	}
	for {
		_, err := c.Write(many.Bytes())
		if n, ok := err.(net.Error); ok && n.Timeout() {
			t.Errorf("the connection was not ended within %v", soon)
		}
		if err != nil {
			break
		}
	}
	g.behaves("/well")
}
