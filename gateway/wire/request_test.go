package wire

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

func request(lines ...string) string { return strings.Join(lines, "\r\n") }

// What is plain, and what net/http decides on. Every way of making two readers
// disagree about a request is among the latter.
func TestWhatIsPlain(t *testing.T) {
	const host = "Host: shop.example"
	for _, c := range []struct {
		name  string
		text  string
		plain bool
	}{
		{"a page", request("GET / HTTP/1.1", host, "", ""), true},
		{"a query", request("GET /a/b?c=d&e=%20 HTTP/1.1", host, "", ""), true},
		{"an encoded path", request("GET /a%2Fb HTTP/1.1", host, "", ""), true},
		{"an empty query", request("GET /a? HTTP/1.1", host, "", ""), true},
		{"a form that came with its header", request("POST /buy HTTP/1.1", host, "Content-Length: 4", "", "a=10"), true},
		{"no body said to be none", request("POST /buy HTTP/1.1", host, "Content-Length: 0", "", ""), true},
		{"kept alive in words", request("GET / HTTP/1.1", host, "Connection: Keep-Alive", "", ""), true},
		{"the last of its connection", request("GET / HTTP/1.1", host, "Connection: close", "", ""), true},
		{"space around a value", request("GET / HTTP/1.1", host, "A: \t b \t", "", ""), true},
		{"an empty value", request("GET / HTTP/1.1", host, "A:", "", ""), true},
		{"a repeated name", request("GET / HTTP/1.1", host, "A: 1", "a: 2", "", ""), true},

		{"two words on the connection", request("GET / HTTP/1.1", host, "Connection: close", "Connection: keep-alive", "", ""), false},
		{"nothing", "", false},
		{"half a header", request("GET / HTTP/1.1", host, ""), false},
		{"half a body", request("POST / HTTP/1.1", host, "Content-Length: 4", "", "a="), false},
		{"two requests at once", strings.Repeat(request("GET / HTTP/1.1", host, "", ""), 2), false},
		{"more than was announced", request("POST / HTTP/1.1", host, "Content-Length: 1", "", "ab"), false},
		{"a body nobody announced", request("GET / HTTP/1.1", host, "", "hidden"), false},
		{"HTTP/1.0", request("GET / HTTP/1.0", host, "", ""), false},
		{"HTTP/1.10", request("GET / HTTP/1.10", host, "", ""), false},
		{"the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", false},
		{"a TLS client", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", false},
		{"a tunnel", request("CONNECT shop.example:443 HTTP/1.1", host, "", ""), false},
		{"an unknown method", request("BREW / HTTP/1.1", host, "", ""), false},
		{"a method in small letters", request("get / HTTP/1.1", host, "", ""), false},
		{"an absolute target", request("GET http://other.example/ HTTP/1.1", host, "", ""), false},
		{"another host in the path", request("GET //other.example/ HTTP/1.1", host, "", ""), false},
		{"a fragment", request("GET /a#b HTTP/1.1", host, "", ""), false},
		{"two spaces", request("GET  / HTTP/1.1", host, "", ""), false},
		{"a space in the target", request("GET /a b HTTP/1.1", host, "", ""), false},
		{"a tab in the request line", request("GET /\tHTTP/1.1", host, "", ""), false},
		{"a broken escape", request("GET /%zz HTTP/1.1", host, "", ""), false},
		{"no host", request("GET / HTTP/1.1", "A: b", "", ""), false},
		{"two hosts", request("GET / HTTP/1.1", host, host, "", ""), false},
		{"an empty host", request("GET / HTTP/1.1", "Host:", "", ""), false},
		{"a host with a path", request("GET / HTTP/1.1", "Host: a/b", "", ""), false},
		{"a host with a user", request("GET / HTTP/1.1", "Host: a@b", "", ""), false},
		{"chunks", request("POST / HTTP/1.1", host, "Transfer-Encoding: chunked", "", "0", "", ""), false},
		{"chunks and a length", request("POST / HTTP/1.1", host, "Content-Length: 5", "Transfer-Encoding: chunked", "", "0", "", ""), false},
		{"chunks by another name", request("POST / HTTP/1.1", host, "Transfer-Encoding: xchunked", "", ""), false},
		{"chunks with a space before the colon", request("POST / HTTP/1.1", host, "Transfer-Encoding : chunked", "", ""), false},
		{"chunks behind a vertical tab", request("POST / HTTP/1.1", host, "Transfer-Encoding:\x0bchunked", "", ""), false},
		{"two lengths", request("POST / HTTP/1.1", host, "Content-Length: 1", "Content-Length: 2", "", "a"), false},
		{"one length twice", request("POST / HTTP/1.1", host, "Content-Length: 1", "Content-Length: 1", "", "a"), false},
		{"lengths in a list", request("POST / HTTP/1.1", host, "Content-Length: 1, 1", "", "a"), false},
		{"a length with a sign", request("POST / HTTP/1.1", host, "Content-Length: +1", "", "a"), false},
		{"a negative length", request("POST / HTTP/1.1", host, "Content-Length: -1", "", ""), false},
		{"a length in hex", request("POST / HTTP/1.1", host, "Content-Length: 0x1", "", "a"), false},
		{"a length that overflows", request("POST / HTTP/1.1", host, "Content-Length: 18446744073709551617", "", "a"), false},
		{"a folded line", request("GET / HTTP/1.1", host, "A: b", " c", "", ""), false},
		{"a bare line feed", "GET / HTTP/1.1\r\n" + host + "\nA: b\r\n\r\n", false},
		{"a bare line feed in the request line", "GET / HTTP/1.1\n" + host + "\r\n\r\n", false},
		{"a bare carriage return", request("GET / HTTP/1.1", host, "A: b\rc", "", ""), false},
		{"a zero byte", request("GET / HTTP/1.1", host, "A: \x00", "", ""), false},
		{"a line without a colon", request("GET / HTTP/1.1", host, "A", "", ""), false},
		{"a line without a name", request("GET / HTTP/1.1", host, ": a", "", ""), false},
		{"a space in a name", request("GET / HTTP/1.1", host, "A b: c", "", ""), false},
		{"a name in another alphabet", request("GET / HTTP/1.1", host, "Ä: c", "", ""), false},
		{"an upgrade", request("GET / HTTP/1.1", host, "Connection: Upgrade", "Upgrade: websocket", "", ""), false},
		{"an upgrade without a connection", request("GET / HTTP/1.1", host, "Upgrade: h2c", "", ""), false},
		{"a connection that names a field", request("GET / HTTP/1.1", host, "Connection: keep-alive, X-Tenant", "", ""), false},
		{"an expectation", request("POST / HTTP/1.1", host, "Expect: 100-continue", "Content-Length: 0", "", ""), false},
		{"trailers", request("GET / HTTP/1.1", host, "TE: trailers", "", ""), false},
		{"announced trailers", request("GET / HTTP/1.1", host, "Trailer: A", "", ""), false},
		{"a hundred and one lines", request(append(append([]string{"GET / HTTP/1.1", host}, slicesOf("A: b", fieldsMost)...), "", "")...), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, ok := parse(context.Background(), []byte(c.text), "192.0.2.1:1")
			if ok != c.plain {
				t.Fatalf("plain: %v, want %v", ok, c.plain)
			}
			if ok {
				agrees(t, r, c.text)
			}
		})
	}
}

func slicesOf(s string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = s
	}
	return all
}

// agrees holds a request beside what net/http makes of the same bytes.
func agrees(t *testing.T, r *http.Request, text string) {
	t.Helper()
	br := bufio.NewReader(strings.NewReader(text))
	want, err := http.ReadRequest(br)
	if err != nil {
		t.Fatalf("net/http refuses it: %v\n%q", err, text)
	}
	body, _ := io.ReadAll(r.Body)
	wantBody, err := io.ReadAll(want.Body)
	if err != nil || !bytes.Equal(body, wantBody) {
		t.Fatalf("body %q, want %q (%v)", body, wantBody, err)
	}
	if rest, _ := io.ReadAll(br); len(rest) > 0 {
		t.Fatalf("net/http sees another request in %q", rest)
	}
	for _, side := range []*http.Request{r, want} {
		side.Header.Del("Connection") // net/http strikes off close
	}
	if r.Method != want.Method || r.Host != want.Host || r.RequestURI != want.RequestURI ||
		r.ContentLength != want.ContentLength || r.Close != want.Close || r.Proto != want.Proto ||
		r.URL.RequestURI() != want.URL.RequestURI() || r.URL.Path != want.URL.Path || r.URL.Host != want.URL.Host ||
		!reflect.DeepEqual(r.Header, want.Header) {
		t.Fatalf("read as\n%+v\n%+v\nwant\n%+v\n%+v", r, r.URL, want, want.URL)
	}
}

// Whatever is taken for plain, net/http reads in the same way: nobody gains by
// which of the two a request ends up with.
func FuzzPlain(f *testing.F) {
	f.Add(request("GET /a?b=c HTTP/1.1", "Host: x", "A: b", "", ""))
	f.Add(request("POST /%41 HTTP/1.1", "Host: x:1", "content-length: 2", "", "ab"))
	f.Add(request("GET / HTTP/1.1", "Host: [::1]:80", "Connection: close", "Cookie: a=b; c=d", "", ""))
	f.Fuzz(func(t *testing.T, text string) {
		if r, ok := parse(context.Background(), []byte(text), "192.0.2.1:1"); ok {
			agrees(t, r, text)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	text := []byte(request("GET /checkout/basket?item=17 HTTP/1.1", "Host: shop.example", "User-Agent: curl/8.5.0", "Accept: */*", "X-Tenant: acme", "", ""))
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := parse(context.Background(), text, "192.0.2.1:1"); !ok {
			b.Fatal("not plain")
		}
	}
}
