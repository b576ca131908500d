package hostile_test

import (
	"bytes"
	"io"
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

// encode writes pairs of names and values as the first header block of a
// connection.
func encode(pairs ...string) []byte {
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	for i := 0; i+1 < len(pairs); i += 2 {
		e.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return block.Bytes()
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
// faster than they are begun, which is told by how many wait for one of the
// streams. Where all are begun at once none waits, and the connection goes on.
func TestResetBurst(t *testing.T) {
	attack := func(t *testing.T, limits string, most int) (calm bool) {
		upstream, letGo := stuck(t)
		g := stand(t, upstream, limits)
		c := speak(t, g.addr)
		last := uint32(2*most + 1) // the stream of the request after them
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			for range most {
				id := c.ask(true, get("/slow")...)
				if c.WriteRSTStream(id, http2.ErrCodeCancel) != nil {
					return
				}
			}
			c.ask(true, get("/fast")...)
		}()
		ended := over(last)
		c.until(func(f http2.Frame) bool {
			a, ok := f.(*http2.GoAwayFrame)
			calm = ok && a.ErrCode == http2.ErrCodeEnhanceYourCalm
			return calm || ended(f)
		})
		c.Close()
		<-sent
		letGo()
		until(t, "no slot is held", func() bool { return g.Gate("app").States()[0].Used == 0 })
		return calm
	}
	if !attack(t, "limits: { resets: 1000000, streams: 10 }", 100_000) {
		t.Error("the connection was not told to calm down")
	}
	if attack(t, "limits: { resets: 1000000, streams: 10000 }", 2000) {
		t.Error("undefended, the connection was told to calm down all the same: what does this test?")
	}
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

// pings are a mebibyte of them.
func pings() []byte {
	var many bytes.Buffer
	for f := http2.NewFramer(&many, nil); many.Len() < 1<<20; {
		f.WritePing(false, [8]byte{})
	}
	return many.Bytes()
}

// TestPingFlood: of frames that ask for an answer which nobody reads, net/http
// keeps only so many answers.
func TestPingFlood(t *testing.T) {
	g := stand(t, record(t).addr, "limits: { write_stall: "+long+" }")
	c := speak(t, g.addr)
	for many := pings(); ; {
		_, err := c.Write(many)
		if n, ok := err.(net.Error); ok && n.Timeout() {
			t.Errorf("the connection was not ended within %v", soon)
		}
		if err != nil {
			break
		}
	}
	g.behaves("/well")
}

// TestPingFloodBites: net/http's bound cannot be lifted. A server without one takes
// in all that is sent, and keeps an answer to each.
func TestPingFloodBites(t *testing.T) {
	kept := make(chan int, 1)
	addr := serveEach(t, func(c net.Conn) {
		f := http2.NewFramer(io.Discard, c)
		var answers [][8]byte // whoever would write them waits for the caller to read
		for {
			frame, err := f.ReadFrame()
			if err != nil {
				kept <- len(answers)
				return
			}
			if p, ok := frame.(*http2.PingFrame); ok {
				answers = append(answers, p.Data)
			}
		}
	})
	c, many := dial(t, addr, ""), pings()
	if _, err := c.Write(many); err != nil {
		t.Fatal(err)
	}
	c.Close()
	if n := <-kept; n <= 10_000 { // which is where net/http ends
		t.Errorf("%d answers are kept: the flood is none", n)
	}
}
