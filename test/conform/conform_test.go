package conform_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/test/need"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs the service and two gateways before it, and returns their addresses:
// the service, by the short way, by the long one.
func serve(t *testing.T) (ways [3]string) {
	t.Helper()
	return serveReports(t, nil)
}

func serveReports(t *testing.T, reports chan<- string) (ways [3]string) {
	t.Helper()
	s := httptest.NewUnstartedServer(withGRPC(service(reports)))
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	s.Start()
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	ways[0] = s.Listener.Addr().String()
	for i, long := range []bool{false, true} {
		ways[1+i] = through(t, s.URL, long)
	}
	return ways
}

func through(t *testing.T, upstream string, long bool) string {
	t.Helper()
	cfg, err := config.Parse("conform.yaml", fmt.Appendf(nil, "version: 1\nupstreams: { app: { url: %q } }\nclasses: { all: { slots: 50 } }\n", upstream))
	if err != nil {
		t.Fatal(err)
	}
	front, admin := listen(t), listen(t)
	g, err := gateway.New(cfg, gateway.Options{
		Listener: front, AdminListener: admin, Logger: slog.New(slog.DiscardHandler), DrainLimit: soon, LongWay: long,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return front.Addr().String()
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// same makes a call all three ways and holds the outcomes side by side.
func same(t *testing.T, ways [3]string, call func(t *testing.T, addr string) string) {
	t.Helper()
	direct := call(t, ways[0])
	if direct == "" {
		t.Fatal("nothing came of the call to the service itself")
	}
	for i, name := range []string{"by the short way", "by the long way"} {
		if got := call(t, ways[1+i]); got != direct {
			t.Errorf("%s:\n%.2000s\ndirectly:\n%.2000s", name, got, direct)
		}
	}
}

// tell renders an answer without what differs between any two calls and without
// what is ours.
func tell(res *http.Response, body []byte) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s length=%d coding=%v close=%v\n", res.Proto, res.Status, res.ContentLength, res.TransferEncoding, res.Close)
	for _, k := range keys(res.Header) {
		if !ours[k] && k != "Date" {
			fmt.Fprintf(&b, "%s: %q\n", k, res.Header[k])
		}
	}
	if len(body) > 4000 {
		fmt.Fprintf(&b, "%d bytes, ", len(body))
		body = body[len(body)-100:]
	}
	fmt.Fprintf(&b, "%q\n", body)
	for _, k := range keys(res.Trailer) {
		fmt.Fprintf(&b, "trailer %s: %q\n", k, res.Trailer[k])
	}
	return b.String()
}

// raw sends bytes on one connection and reads so many answers. Between the two it
// may close its sending side.
func raw(text string, answers int, half bool) func(*testing.T, string) string {
	return func(t *testing.T, addr string) string {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(soon))
		go io.WriteString(c, text)
		br := bufio.NewReader(c)
		var told strings.Builder
		for range answers {
			method, _, _ := strings.Cut(text, " ")
			res, err := http.ReadResponse(br, &http.Request{Method: method})
			if err != nil {
				fmt.Fprintf(&told, "broken off\n")
				return told.String()
			}
			body, err := io.ReadAll(res.Body)
			if err != nil { // how much of it came is chance
				fmt.Fprintf(&told, "broken off\n")
				return told.String()
			}
			// The gateway ends a connection after a transfer coding (RFC 9112, 6.1).
			res.Close = res.Close && !strings.Contains(text, "Transfer-Encoding")
			told.WriteString(tell(res, body))
			if half && res.StatusCode >= 200 {
				c.(*net.TCPConn).CloseWrite()
				rest, _ := io.ReadAll(br)
				fmt.Fprintf(&told, "and then %q\n", rest)
			}
		}
		return told.String()
	}
}

func TestHTTP1(t *testing.T) {
	ways := serve(t)
	lines := func(l ...string) string { return strings.Join(l, "\r\n") + "\r\n\r\n" }
	big := strings.Repeat("0123456789abcdef", 1<<16) // 1 MiB
	for name, call := range map[string]func(*testing.T, string) string{
		"a plain request":               raw(lines("GET /echo/a?b=c HTTP/1.1", "Host: x", "X-A: 1", "x-a: 2", "Cookie: a=b"), 1, false),
		"an encoded path":               raw(lines("GET /echo/a%2Fb%20c/%E2%82%AC?x=%26 HTTP/1.1", "Host: x"), 1, false),
		"a query with semicolons":       raw(lines("GET /echo/a?b=c;d=e&f HTTP/1.1", "Host: x"), 1, false),
		"an empty query":                raw(lines("GET /echo/a? HTTP/1.1", "Host: x"), 1, false),
		"HTTP/1.0":                      raw(lines("GET /echo/a HTTP/1.0", "Host: x"), 1, false),
		"three on one connection":       raw(lines("GET /echo/1 HTTP/1.1", "Host: x")+lines("GET /echo/2 HTTP/1.1", "Host: x")+lines("GET /echo/3 HTTP/1.1", "Host: x"), 3, false),
		"HEAD":                          raw(lines("HEAD /head HTTP/1.1", "Host: x"), 1, false),
		"HEAD and another":              raw(lines("HEAD /head HTTP/1.1", "Host: x")+lines("HEAD /echo/a HTTP/1.1", "Host: x"), 2, false),
		"OPTIONS":                       raw(lines("OPTIONS /echo/a HTTP/1.1", "Host: x", "Origin: http://y"), 1, false),
		"DELETE":                        raw(lines("DELETE /echo/a HTTP/1.1", "Host: x"), 1, false),
		"a method nobody knows":         raw(lines("PURGE /echo/a HTTP/1.1", "Host: x"), 1, false),
		"a small body":                  raw("POST /echo/a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\nhello", 1, false),
		"an empty body":                 raw("POST /echo/a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 1, false),
		"no body and no length":         raw("POST /echo/a HTTP/1.1\r\nHost: x\r\n\r\n", 1, false),
		"a GET with a body":             raw("GET /echo/a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", 1, false),
		"a large body":                  raw(fmt.Sprintf("PUT /echo/a HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(big), big), 1, false),
		"a chunked body":                raw("POST /echo/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1;a=b\r\n!\r\n0\r\n\r\n", 1, false),
		"a chunked body with a trailer": raw("POST /echo/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n", 1, false),
		"a body after 100-continue":     raw("POST /echo/a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello", 2, false),
		"no content":                    raw(lines("GET /status/204 HTTP/1.1", "Host: x"), 1, false),
		"not modified":                  raw(lines("GET /status/304 HTTP/1.1", "Host: x", `If-None-Match: "v1"`), 1, false),
		"an error of the service":       raw(lines("GET /status/500 HTTP/1.1", "Host: x"), 1, false),
		"a status of its own":           raw(lines("GET /status/299 HTTP/1.1", "Host: x"), 1, false),
		"cookies and a redirect":        raw(lines("GET /cookies HTTP/1.1", "Host: x"), 1, false),
		"an answer of no type":          raw(lines("GET /untyped HTTP/1.1", "Host: x"), 1, false),
		"early hints":                   raw(lines("GET /hints HTTP/1.1", "Host: x"), 2, false),
		"trailers":                      raw(lines("GET /trailers HTTP/1.1", "Host: x", "TE: trailers"), 1, false),
		"trailers nobody asked for":     raw(lines("GET /trailers HTTP/1.1", "Host: x"), 1, false),
		"events":                        raw(lines("GET /events HTTP/1.1", "Host: x", "Accept: text/event-stream"), 1, false),
		"a large answer":                raw(lines("GET /big?n=20000000 HTTP/1.1", "Host: x"), 1, false),
		"a large answer in chunks":      raw(lines("GET /big?n=20000000&chunked=1 HTTP/1.1", "Host: x"), 1, false),
		"an answer that breaks off":     raw(lines("GET /broken HTTP/1.1", "Host: x"), 1, false),
		"the last of its connection":    raw(lines("GET /echo/a HTTP/1.1", "Host: x", "Connection: close"), 1, false),
		"half-closed after the answer":  raw(lines("GET /echo/a HTTP/1.1", "Host: x"), 1, true),
		"answered before it is read":    raw(fmt.Sprintf("POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(big), big[:1000]), 1, false),
	} {
		t.Run(name, func(t *testing.T) { same(t, ways, call) })
	}
}

// Both directions flow at once.
func TestDuplex(t *testing.T) {
	same(t, serve(t), func(t *testing.T, addr string) string {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(soon))
		io.WriteString(c, "POST /duplex HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nping\r\n")
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		first := make([]byte, 6)
		if _, err := io.ReadFull(res.Body, first); err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, "4\r\npong\r\n0\r\n\r\n")
		rest, err := io.ReadAll(res.Body)
		// Not whether the connection goes on: the gateway ends one on which an
		// answer has begun before the request was over.
		return fmt.Sprintf("%s, then %s: %s %v", first, rest, res.Status, err)
	})
}

// What curl shows of an exchange, in every version of HTTP.
func TestCurl(t *testing.T) {
	curl := need.Command(t, "curl")
	ways := serve(t)
	for name, args := range map[string][]string{
		"a page":            {"/echo/a?b=c"},
		"a form":            {"-d", "a=1&b=2", "/echo/a"},
		"a large upload":    {"-T", "-", "/echo/a"},
		"HEAD":              {"-I", "/head"},
		"early hints":       {"/hints"},
		"cookies":           {"/cookies"},
		"a ranged download": {"-r", "0-99", "/big?n=1000"},
		"compression":       {"--compressed", "/echo/a"},
		"an expectation":    {"-H", "Expect: 100-continue", "-d", "a=1", "/echo/a"},
	} {
		for _, version := range []string{"--http1.1", "--http2-prior-knowledge"} {
			t.Run(name+" "+version, func(t *testing.T) {
				same(t, ways, func(t *testing.T, addr string) string {
					all := append([]string{"-sS", "-i", "--max-time", "30", version}, args...)
					all[len(all)-1] = "http://" + addr + args[len(args)-1]
					cmd := exec.Command(curl, all...)
					cmd.Stdin = io.LimitReader(new(pattern), 5_000_000)
					out, err := cmd.CombinedOutput()
					return normal(string(out)) + fmt.Sprint(err)
				})
			})
		}
	}
}

var (
	dates = regexp.MustCompile(`(?mi)^date: .*\n`)
	mine  = regexp.MustCompile(`(?mi)^(spillway-rung|spillway-reason|x-request-id|connection): .*\n`)
)

// normal puts header lines into one order and strikes off what is ours, the date,
// and what is said of the connection.
func normal(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = mine.ReplaceAllString(dates.ReplaceAllString(s, ""), "")
	blocks := strings.SplitAfter(s, "\n\n")
	for i, b := range blocks {
		if strings.HasPrefix(b, "HTTP/") {
			lines := strings.Split(strings.TrimSuffix(b, "\n\n"), "\n")
			for j := range lines[1:] {
				name, value, _ := strings.Cut(lines[1+j], ":")
				lines[1+j] = strings.ToLower(name) + ":" + value
			}
			sort.Strings(lines[1:])
			blocks[i] = strings.Join(lines, "\n") + "\n\n"
		}
	}
	return strings.Join(blocks, "")
}

// HTTP/2 with trailers, as nghttp sees it, and many streams at once.
func TestNghttp2(t *testing.T) {
	nghttp, h2load := need.Command(t, "nghttp"), need.Command(t, "h2load")
	ways := serve(t)
	header := regexp.MustCompile(`recv \(stream_id=\d+\) (.*)`)
	for _, path := range []string{"/trailers", "/hints", "/echo/a", "/events", "/status/204", "/big?n=300000"} {
		t.Run(path, func(t *testing.T) {
			same(t, ways, func(t *testing.T, addr string) string {
				out, err := exec.Command(nghttp, "-v", "-n", "--no-dep", "http://"+addr+path).CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				var lines []string
				for _, m := range header.FindAllStringSubmatch(string(out), -1) {
					if name, _, _ := strings.Cut(m[1], ": "); !ours[http.CanonicalHeaderKey(name)] && name != "date" {
						lines = append(lines, m[1])
					}
				}
				sort.Strings(lines)
				return strings.Join(lines, "\n")
			})
		})
	}
	t.Run("many streams", func(t *testing.T) {
		same(t, ways, func(t *testing.T, addr string) string {
			out, err := exec.Command(h2load, "-n", "500", "-c", "4", "-m", "8", "http://"+addr+"/echo/a").CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			return regexp.MustCompile(`(?m)^(requests|status codes): .*`).FindString(string(out))
		})
	})
}

// A WebSocket: subprotocol, text, binary, large messages, close codes.
func TestWebSocket(t *testing.T) {
	same(t, serve(t), func(t *testing.T, addr string) string {
		ctx, cancel := context.WithTimeout(context.Background(), soon)
		defer cancel()
		c, res, err := websocket.Dial(ctx, "ws://"+addr+"/ws", &websocket.DialOptions{Subprotocols: []string{"chat"}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.CloseNow()
		c.SetReadLimit(1 << 20)
		var told strings.Builder
		fmt.Fprintln(&told, res.Status, c.Subprotocol())
		for kind, text := range map[websocket.MessageType]string{websocket.MessageText: "hello", websocket.MessageBinary: strings.Repeat("\x00\xff", 100_000)} {
			if err := c.Write(ctx, kind, []byte(text)); err != nil {
				t.Fatal(err)
			}
			got, b, err := c.Read(ctx)
			if got != kind || err != nil || !bytes.Equal(b, []byte("echo "+text)) {
				t.Errorf("%v: %d bytes of kind %v, %v", kind, len(b), got, err)
			}
		}
		fmt.Fprintln(&told, c.Close(websocket.StatusNormalClosure, "bye"))
		return told.String()
	})
}

// What a page in a browser gets of fetch, uploads, events and a WebSocket.
func TestBrowser(t *testing.T) {
	chromium := need.Command(t, "chromium", "google-chrome", "chrome")
	reports := make(chan string, 1)
	same(t, serveReports(t, reports), func(t *testing.T, addr string) string {
		ctx, cancel := context.WithTimeout(context.Background(), 4*soon)
		defer cancel()
		cmd := exec.CommandContext(ctx, chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
			"--user-data-dir="+t.TempDir(), "--remote-debugging-port=0", "http://"+addr+"/page")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { cancel(); cmd.Wait() }()
		select {
		case told := <-reports:
			if strings.Contains(told, "failed") || !strings.Contains(told, "websocket") {
				t.Errorf("the page says\n%s", told)
			}
			return told
		case <-ctx.Done():
			t.Fatal("the page reports nothing")
			return ""
		}
	})
}
