package conform_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/net/http/httpguts"
)

// ours are the headers of a request that the gateway adds for the service, and
// of an answer that it adds for the caller.
var ours = map[string]bool{
	"X-Forwarded-For": true, "X-Forwarded-Host": true, "X-Forwarded-Proto": true, "X-Envoy-Expected-Rq-Timeout-Ms": true,
	"Spillway-Rung": true, "Spillway-Reason": true, "X-Request-Id": true, "Access-Control-Expose-Headers": true,
}

// service is what is called, directly and through the gateway. It tells in the
// answer's body what it saw, and passes on what a page reports.
func service(reports chan<- string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/report", func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		reports <- string(b)
	})
	mux.HandleFunc("/echo", echo)
	mux.HandleFunc("/echo/", echo)
	mux.HandleFunc("/status/{code}", func(w http.ResponseWriter, r *http.Request) {
		code, _ := strconv.Atoi(r.PathValue("code"))
		w.Header().Set("Etag", `"v1"`)
		w.WriteHeader(code)
	})
	mux.HandleFunc("/cookies", func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Set-Cookie"] = []string{"a=1; Path=/", "b=2; HttpOnly"}
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Location", "/elsewhere?x=y")
		w.Header().Set("X-Long", strings.Repeat("long", 4000))
		w.WriteHeader(http.StatusFound)
		io.WriteString(w, "not gzip at all")
	})
	mux.HandleFunc("/untyped", func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = nil
		io.WriteString(w, "<html>nobody says so")
	})
	mux.HandleFunc("/big", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		if r.URL.Query().Get("chunked") == "" {
			w.Header().Set("Content-Length", strconv.Itoa(n))
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		io.CopyN(w, new(pattern), int64(n))
	})
	mux.HandleFunc("/head", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "12345")
		w.Header().Set("Content-Type", "text/plain")
		if r.Method != http.MethodHead {
			io.CopyN(w, new(pattern), 12345)
		}
	})
	mux.HandleFunc("/trailers", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, "body")
		w.(http.Flusher).Flush()
		w.Header().Set("X-Sum", "42")
		w.Header().Set(http.TrailerPrefix+"X-Late", "not announced")
	})
	mux.HandleFunc("/hints", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</a.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, "after hints")
	})
	mux.HandleFunc("/events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 5 {
			fmt.Fprintf(w, "id: %d\ndata: event %d\n\n", i, i)
			w.(http.Flusher).Flush()
		}
	})
	mux.HandleFunc("/early", func(w http.ResponseWriter, r *http.Request) { // answers without reading
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		io.WriteString(w, "too much")
	})
	mux.HandleFunc("/broken", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "10")
		io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	mux.HandleFunc("/duplex", func(w http.ResponseWriter, r *http.Request) { // answers while it reads
		http.NewResponseController(w).EnableFullDuplex()
		w.Header().Set("Content-Type", "text/plain")
		b := make([]byte, 4)
		for {
			n, err := io.ReadFull(r.Body, b)
			fmt.Fprintf(w, "<%s>", b[:n])
			w.(http.Flusher).Flush()
			if err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/ws", func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true, Subprotocols: []string{"chat"}})
		if err != nil {
			return
		}
		defer c.CloseNow()
		c.SetReadLimit(1 << 20)
		for {
			kind, b, err := c.Read(context.Background())
			if err != nil {
				return
			}
			if err := c.Write(context.Background(), kind, append([]byte("echo "), b...)); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/page", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, page)
	})
	return mux
}

// echo answers with everything that it saw of the request.
func echo(w http.ResponseWriter, r *http.Request) {
	sum := sha256.New()
	n, err := io.Copy(sum, r.Body)
	w.Header().Set("Content-Type", "text/plain")
	fmt.Fprintf(w, "%s %s host=%s length=%d body=%d %x %v\n", r.Method, r.RequestURI, host(r), r.ContentLength, n, sum.Sum(nil)[:4], err)
	for _, k := range keys(r.Header) {
		if !ours[k] && k != "Connection" && k != "Content-Length" { // of the one connection; told above
			fmt.Fprintf(w, "%s: %q\n", k, r.Header[k])
		}
	}
	for _, k := range keys(r.Trailer) {
		fmt.Fprintf(w, "trailer %s: %q\n", k, r.Trailer[k])
	}
}

// host is the request's host, with the port struck off: that differs.
func host(r *http.Request) string {
	name, _, _ := strings.Cut(r.Host, ":")
	if !httpguts.ValidHostHeader(r.Host) {
		name = "invalid"
	}
	return name
}

func keys(h http.Header) []string {
	var all []string
	for k := range h {
		all = append(all, k)
	}
	sort.Strings(all)
	return all
}

// pattern is bytes that are the same everywhere and that a shift would change.
type pattern struct{ at int }

func (r *pattern) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte('a' + r.at%23)
		r.at++
	}
	return len(p), nil
}

// page has a browser make the calls that a page makes, and report what came of
// them.
const page = `<!doctype html><title>working</title><body><script>
const out = [];
async function run() {
  const get = await fetch("/echo/browser?q=1", {headers: {"X-Tenant": "acme"}});
  out.push("fetch " + get.status + " " + (await get.text()).split("\n")[0]);
  const post = await fetch("/echo/form", {method: "POST", body: new URLSearchParams({a: "1", b: "ü"})});
  out.push("post " + post.status + " " + (await post.text()).split("\n")[0]);
  const big = await (await fetch("/big?n=3000000")).arrayBuffer();
  out.push("big " + big.byteLength);
  const events = await new Promise((done) => {
    const seen = [], source = new EventSource("/events");
    source.onmessage = (e) => { seen.push(e.lastEventId + "=" + e.data); if (seen.length === 5) { source.close(); done(seen); } };
  });
  out.push("events " + events.join(","));
  const said = await new Promise((done) => {
    const ws = new WebSocket("ws://" + location.host + "/ws", "chat");
    ws.onopen = () => ws.send("hello");
    ws.onmessage = (e) => { ws.close(); done(ws.protocol + " " + e.data); };
  });
  out.push("websocket " + said);
}
run().catch((e) => out.push("failed: " + e)).then(() => fetch("/report", {method: "POST", body: out.join("\n")}));
</script>`

// soon is how long a call may take: an order of magnitude more than it does.
const soon = 30 * time.Second
