package wire

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// soon is how long a test waits for what must happen at once.
const soon = 10 * time.Second

// both is the two servers behind one listener, as the gateway has them.
type both struct {
	*Server
	addr string
	gone chan func() // what the server wants called when a peer hangs up
	log  bytes.Buffer
}

func serveBoth(t *testing.T, h http.HandlerFunc, change ...func(*Server)) *both {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	handed := NewHanded(l)
	b := &both{addr: l.Addr().String(), gone: make(chan func(), 100)}
	b.Server = &Server{
		Handler: h, HandOver: handed.HandOver,
		Watch: func(_ net.Conn, gone func()) (func(), bool) {
			b.gone <- gone
			return func() {}, true
		},
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context { return context.WithValue(ctx, way{}, "short") },
		Fresh:       soon, Idle: soon, Stall: soon,
		ErrorLog: log.New(&b.log, "", 0),
	}
	for _, f := range change {
		f(b.Server)
	}
	rest := &http.Server{Handler: h}
	var all sync.WaitGroup
	all.Go(func() {
		if err := b.Serve(l); err != nil {
			t.Error(err)
		}
	})
	all.Go(func() { rest.Serve(handed) })
	t.Cleanup(func() {
		rest.Close()
		ended, end := context.WithCancel(context.Background())
		end()
		b.Shutdown(ended)
		all.Wait()
	})
	return b
}

// way is set on requests that came the short way.
type way struct{}

func wayOf(r *http.Request) string {
	if v, ok := r.Context().Value(way{}).(string); ok {
		return v
	}
	return "net/http"
}

// dial opens a connection that is closed at the end of the test.
func (b *both) dial(t *testing.T) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", b.addr)
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(soon))
	t.Cleanup(func() { c.Close() })
	return c, bufio.NewReader(c)
}

func readAnswer(t *testing.T, br *bufio.Reader, method string) (*http.Response, string) {
	t.Helper()
	res, err := http.ReadResponse(br, &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

// A connection goes on the short way until something is not plain, and from then
// on by net/http's; no request is lost or changed where it is handed over.
func TestHandOver(t *testing.T) {
	b := serveBoth(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %q", wayOf(r), r.URL.Path, body)
	})
	c, br := b.dial(t)
	for _, step := range []struct{ send, want string }{
		{"GET /1 HTTP/1.1\r\nHost: x\r\n\r\n", `short /1 ""`},
		{"POST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab", `short /2 "ab"`},
		{"POST /3 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\ncd\r\n0\r\n\r\n", `net/http /3 "cd"`},
		{"GET /4 HTTP/1.1\r\nHost: x\r\n\r\n", `net/http /4 ""`},
	} {
		io.WriteString(c, step.send)
		if res, body := readAnswer(t, br, "GET"); body != step.want || res.StatusCode != 200 {
			t.Errorf("%d %s, want %s", res.StatusCode, body, step.want)
		}
	}

	c, br = b.dial(t)
	io.WriteString(c, "GET /5 HTTP/1.1\r\nHo")
	synced := make(chan struct{})
	go func() { defer close(synced); io.WriteString(c, "st: x\r\n\r\n") }()
	<-synced
	if _, body := readAnswer(t, br, "GET"); !strings.Contains(body, " /5 ") {
		t.Errorf("came to %s", body)
	}
	io.WriteString(c, "GET /6 HTTP/1.1\r\nHost: x\r\n\r\nGET /7 HTTP/1.1\r\nHost: x\r\n\r\n")
	for _, want := range []string{`net/http /6 ""`, `net/http /7 ""`} {
		if _, body := readAnswer(t, br, "GET"); body != want {
			t.Errorf("came to %s, want %s", body, want)
		}
	}
}

// What a handler does with its writer comes out as it would of net/http's.
func TestWriterIsNetHTTPs(t *testing.T) {
	long := strings.Repeat("spillway", 4096)
	handlers := map[string]http.HandlerFunc{
		"nothing":      func(http.ResponseWriter, *http.Request) {},
		"a short text": func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "a") },
		"a long text":  func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, long) },
		"many writes": func(w http.ResponseWriter, _ *http.Request) {
			for range 100 {
				io.WriteString(w, long[:999])
			}
		},
		"a status":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404); io.WriteString(w, "no") },
		"two statuses": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404); w.WriteHeader(200) },
		"no content":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204); io.WriteString(w, "no") },
		"no content with a length": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "2")
			w.WriteHeader(204)
		},
		"hints with a length": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1")
			w.WriteHeader(103)
			io.WriteString(w, "a")
		},
		"not modified": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Etag", "a"); w.WriteHeader(304) },
		"a header":     func(w http.ResponseWriter, _ *http.Request) { w.Header()["A"] = []string{"b", "c"} },
		"a date":       func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Date", "today") },
		"a flush": func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "a")
			w.(http.Flusher).Flush()
			io.WriteString(w, "b")
		},
		"a first flush": func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush() },
		"a length": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "2")
			io.WriteString(w, "a")
			io.WriteString(w, "b")
		},
		"an empty length": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "0") },
		"the last": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Connection", "close")
			io.WriteString(w, "a")
		},
		"hints": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Link", "a")
			w.WriteHeader(103)
			w.Header().Del("Link")
			io.WriteString(w, "a")
		},
		"announced trailers": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Trailer", "A")
			w.WriteHeader(200)
			io.WriteString(w, long)
			w.Header().Set("A", "b")
		},
		"trailers that were not": func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			io.WriteString(w, "a")
			w.Header().Set(http.TrailerPrefix+"A", "b")
		},
		"an answer split in two": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("A", "b\r\nSet-Cookie: c\r\n\r\nHTTP/1.1 200 OK")
			w.Header()["B\r\nC"] = []string{"d"}
		},
	}
	for name, h := range handlers {
		for _, method := range []string{"GET", "HEAD"} {
			t.Run(name+" "+method, func(t *testing.T) {
				b := serveBoth(t, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "text/plain") // or net/http would guess
					h(w, r)
				})
				var answers []string
				for _, odd := range []string{"", "TE: trailers\r\n"} { // the second is not plain
					c, br := b.dial(t)
					io.WriteString(c, method+" / HTTP/1.1\r\nHost: x\r\n"+odd+"\r\n")
					res, body := readAnswer(t, br, method)
					informed := ""
					for res.StatusCode < 200 {
						informed += fmt.Sprint(res.StatusCode, res.Header)
						res, body = readAnswer(t, br, method)
					}
					if res.Header.Get("Date") == "" {
						t.Error("an answer without a date")
					}
					if name != "a date" {
						res.Header.Del("Date")
					}
					answers = append(answers, fmt.Sprint(informed, res.StatusCode, res.Header, res.ContentLength, res.TransferEncoding, res.Close, res.Trailer, len(body), body))
				}
				if answers[0] != answers[1] {
					t.Errorf("came to\n%.300s\nof net/http\n%.300s", answers[0], answers[1])
				}
			})
		}
	}
}

// An answer that broke off must not look like one, and ends its connection; the
// others go on.
func TestBrokenAnswersEndTheirConnection(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"an abort":       func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"a panic":        func(http.ResponseWriter, *http.Request) { panic("a bug") },
		"a panic inside": func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush(); panic("a bug") },
		"too little": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "2")
			io.WriteString(w, "a")
		},
		"too much": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1")
			if _, err := io.WriteString(w, "ab"); err == nil {
				io.WriteString(w, "nobody was told")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := serveBoth(t, h)
			c, br := b.dial(t)
			io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			res, err := http.ReadResponse(br, nil)
			if err == nil {
				_, err = io.ReadAll(res.Body)
			}
			if err == nil {
				t.Error("it looks like an answer")
			}
			if _, err := br.ReadByte(); err == nil {
				t.Error("and the connection goes on")
			}
		})
	}
}

// A caller's leaving ends its request's context, whichever way it is asked for.
func TestCallerLeaves(t *testing.T) {
	for name, wait := range map[string]func(context.Context){
		"Done": func(ctx context.Context) { <-ctx.Done() },
		"AfterFunc": func(ctx context.Context) {
			done := make(chan struct{})
			context.AfterFunc(ctx, func() { close(done) })
			<-done
		},
		"a child": func(ctx context.Context) {
			child, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			<-child.Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			asked, ended := make(chan struct{}), make(chan error, 1)
			b := serveBoth(t, func(_ http.ResponseWriter, r *http.Request) {
				close(asked)
				wait(r.Context())
				ended <- r.Context().Err()
			})
			c, _ := b.dial(t)
			io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			<-asked
			(<-b.gone)()
			if err := <-ended; err != context.Canceled {
				t.Error(err)
			}
		})
	}
	t.Run("AfterFunc that is stopped", func(t *testing.T) {
		c := &caller{Context: context.Background()}
		stop := c.AfterFunc(func() { t.Error("called") })
		if !stop() || stop() {
			t.Error("stop says the wrong thing")
		}
		c.cancel()
		if c.AfterFunc(func() {})() {
			t.Error("what has begun was stopped")
		}
	})
}

// What stands still is closed: a connection that says nothing, one between two
// requests, and an answer that nobody reads. What works is not.
func TestStandingStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{Fresh: 2 * time.Second, Idle: 4 * time.Second, Stall: 3 * time.Second, conns: make(map[*conn]struct{})}
		done := make(chan struct{})
		go s.keepTime(done)
		defer close(done)
		for _, c := range []struct {
			st   state
			most time.Duration
		}{{fresh, 2 * time.Second}, {idle, 4 * time.Second}, {writing, 3 * time.Second}, {busy, 0}} {
			near, far := net.Pipe()
			k := &conn{server: s, Conn: near, unwatch: func() {}}
			k.turn(c.st)
			s.mu.Lock()
			s.conns[k] = struct{}{}
			s.mu.Unlock()
			ended := make(chan time.Time, 1)
			go func() { far.Read(make([]byte, 1)); ended <- time.Now() }()
			begin := time.Now()
			time.Sleep(time.Minute)
			synctest.Wait()
			select {
			case at := <-ended:
				if took := at.Sub(begin); c.most == 0 || took < c.most || took > c.most+2*time.Second {
					t.Errorf("state %d was closed after %v, want %v", c.st, took, c.most)
				}
			default:
				if c.most > 0 {
					t.Errorf("state %d was not closed", c.st)
				}
			}
			near.Close()
			synctest.Wait()
		}
	})
}

// piped is a listener in virtual time.
type piped chan net.Conn

// dial connects to whoever accepts.
func (p piped) dial() net.Conn {
	near, far := net.Pipe()
	p <- near
	return far
}

// quiet is a server for piped that answers 200 to everything.
func quiet() *Server {
	return &Server{
		Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), Idle: 4 * time.Second, Fresh: 2 * time.Second, Stall: time.Second,
		Watch:       func(net.Conn, func()) (func(), bool) { return func() {}, true },
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context { return ctx },
	}
}

func (p piped) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p piped) Close() error   { close(p); return nil }
func (p piped) Addr() net.Addr { return &net.UnixAddr{} }

// Who was accepted before the listener was closed, because another process serves
// by now, is closed after as long as ever; and then the server has ended.
func TestStandingStillOnceTheListenerIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := quiet(), make(piped)
		served := make(chan error, 1)
		go func() { served <- s.Serve(l) }()
		far := l.dial()
		if _, err := io.WriteString(far, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(far)
		if res, err := http.ReadResponse(r, nil); err != nil || res.StatusCode != 200 {
			t.Fatalf("%v, %v", res, err)
		}
		l.Close()
		if err := <-served; err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if _, err := r.ReadByte(); err != io.EOF {
			t.Errorf("it is told %v", err)
		}
		if took := time.Since(begin); took < s.Idle || took > s.Idle+2*time.Second {
			t.Errorf("closed after %v, want %v", took, s.Idle)
		}
	})
}
