package hostile_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// smuggled is the path of a request that nobody sent as one.
const smuggled = "/~"

// A framing is a request whose end two servers could see in two places. P stands
// for its path, S for that of a request smuggled inside it.
type framing struct {
	name string
	raw  string
	// body is what may arrive, as the one body of one request; refused: nothing
	// may.
	body string
	// bites says that a proxy which frames by the first Content-Length and passes
	// on what it read lets it through, or one that does as Connection says. The others
	// are what must pass.
	bites bool
}

const refused = "\x00"

var framings = []framing{
	{"length and chunked", "POST P HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG", "", true},
	{"chunked and length", "POST P HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 35\r\n\r\n0\r\n\r\nGET S HTTP/1.1\r\nHost: x\r\n\r\n", "", true},
	{"chunked twice", "POST P HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", refused, true},
	{"chunked, then identity", "POST P HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n", refused, true},
	{"chunked is not last", "POST P HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", refused, true},
	{"gzip and chunked", "POST P HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", refused, true},
	{"identity", "POST P HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: identity\r\n\r\nabc", refused, true},
	{"a coding nobody knows", "POST P HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: xchunked\r\n\r\nabc", refused, true},
	{"a coding in quotes", "POST P HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: \"chunked\"\r\n\r\nabc", refused, true},
	{"a tab before the coding", "POST P HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n", "", true},
	{"a vertical tab before the coding", "POST P HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", refused, true},
	{"a byte that lowers to k", "POST P HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chun\xe2\x84\xaaed\r\n\r\n0\r\n\r\n", refused, true},
	{"a space before the colon of the coding", "POST P HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n", refused, true},
	{"a space before the colon of the length", "POST P HTTP/1.1\r\nHost: x\r\nContent-Length : 35\r\n\r\nGET S HTTP/1.1\r\nHost: x\r\nA: bbbbbbb\r\n\r\n", refused, true},
	{"a folded coding", "POST P HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", "", true},
	{"a folded field that hides a coding", "POST P HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nX-A: b\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "0\r\n\r\n", true},
	{"a folded first field", "POST P HTTP/1.1\r\n Host: x\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", refused, true},
	{"two lengths", "POST P HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", refused, true},
	{"the same length twice", "POST P HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", "abc", true},
	{"a list of lengths", "POST P HTTP/1.1\r\nHost: x\r\nContent-Length: 3, 3\r\n\r\nabc", refused, true},
	{"a length with a plus", "POST P HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\n\r\nabc", refused, true},
	{"a negative length", "POST P HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\nabc", refused, true},
	{"a hexadecimal length", "POST P HTTP/1.1\r\nHost: x\r\nContent-Length: 0x3\r\n\r\nabc", refused, true},
	{"a length with a space in it", "POST P HTTP/1.1\r\nHost: x\r\nContent-Length: 1 2\r\n\r\nabcdefghijkl", refused, true},
	{"a length with a letter", "POST P HTTP/1.1\r\nHost: x\r\nContent-Length: 3a\r\n\r\nabc", refused, true},
	{"a length with an underscore", "POST P HTTP/1.1\r\nHost: x\r\nContent-Length: 1_0\r\n\r\nabcdefghij", refused, true},
	{"an empty length", "POST P HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\nGET S HTTP/1.1\r\nHost: x\r\n\r\n", refused, true},
	{"a length beyond 63 bits", "POST P HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551619\r\n\r\nabc", refused, true},
	{"a length in other digits", "POST P HTTP/1.1\r\nHost: x\r\nContent-Length: \xd9\xa3\r\n\r\nabc", refused, true},
	{"a length that is an underscore's", "POST P HTTP/1.1\r\nHost: x\r\nContent_Length: 28\r\n\r\n", "", false},
	{"a bare line feed after a field", "POST P HTTP/1.1\r\nHost: x\r\nX-A: b\nContent-Length: 3\r\n\r\nabc", "abc", true},
	{"bare line feeds everywhere", "GET P HTTP/1.1\nHost: x\n\n", "", true},
	{"a bare carriage return in a field", "POST P HTTP/1.1\r\nHost: x\r\nX-A: b\rTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", refused, true},
	{"a bare carriage return in the request line", "GET P\rX HTTP/1.1\r\nHost: x\r\n\r\n", refused, true},
	{"a null in a field", "POST P HTTP/1.1\r\nHost: x\r\nX-A: b\x00c\r\nContent-Length: 3\r\n\r\nabc", refused, true},
	{"a null in a name", "POST P HTTP/1.1\r\nHost: x\r\nContent-Length\x00: 3\r\n\r\nabc", refused, true},
	{"an empty name", "GET P HTTP/1.1\r\nHost: x\r\n: v\r\n\r\n", refused, true},
	{"a field without a colon", "GET P HTTP/1.1\r\nHost: x\r\nTransfer-Encoding chunked\r\n\r\n", refused, true},
	{"a chunk extension", "POST P HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\n\r\n", "abc", true},
	{"a chunk extension with a line feed in it", "POST P HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;a\nabc\r\n0\r\n\r\n", refused, true},
	{"a chunk extension in quotes with a line end in it", "POST P HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2;a=\"\r\nxx\r\n39\r\n0\r\n\r\nGET S HTTP/1.1\r\nHost: x\r\n\r\n", refused, true},
	{"a chunk size beyond 64 bits", "POST P HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000003\r\nabc\r\n0\r\n\r\n", refused, true},
	{"a chunk size of nothing", "POST P HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\r\nabc\r\n0\r\n\r\n", refused, true},
	{"a chunk size with 0x", "POST P HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n", refused, true},
	{"a chunk size with a sign", "POST P HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n+3\r\nabc\r\n0\r\n\r\n", refused, true},
	{"a chunk that is longer than it says", "POST P HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n", refused, true},
	{"a chunk that ends with a bare line feed", "POST P HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\n0\r\n\r\n", refused, true},
	{"a chunk size that ends with a bare line feed", "POST P HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n", refused, true},
	{"a chunk size that ends with a bare carriage return", "POST P HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\rabc\r\n0\r\n\r\n", refused, true},
	{"trailers that forge fields", "POST P HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: Content-Length\r\n\r\n3\r\nabc\r\n0\r\nContent-Length: 99\r\nTransfer-Encoding: x\r\nX-Tenant: forged\r\n\r\n", refused, true},
	{"trailers that nobody announced", "POST P HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Tenant: forged\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n", "abc", false},
	{"chunked in HTTP/1.0", "POST P HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", "0\r\n\r\n", true},
	{"HTTP/1.2", "POST P HTTP/1.2\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", "abc", true},
	{"HTTP/0.9", "GET P\r\n\r\n", refused, true},
	{"a version with a space in it", "GET P HTTP/1. 1\r\nHost: x\r\n\r\n", refused, true},
	{"a space in the target", "GET P S HTTP/1.1\r\nHost: x\r\n\r\n", refused, true},
	{"a length on a GET", "GET P HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", "abc", false},
	{"a chunked GET", "GET P HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "abc", false},
	{"two hosts", "GET P HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", refused, true},
	{"no host", "GET P HTTP/1.1\r\n\r\n", refused, true},
	{"a host with a space", "GET P HTTP/1.1\r\nHost: x y\r\n\r\n", refused, true},
	{"a host with a path", "GET P HTTP/1.1\r\nHost: x/S\r\n\r\n", refused, true},
	{"an upgrade with a length", "POST P HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nContent-Length: 3\r\n\r\nabc", "abc", false},
	{"a length that Connection names", "POST P HTTP/1.1\r\nHost: x\r\nConnection: Content-Length\r\nContent-Length: 30\r\n\r\nGET S HTTP/1.1\r\nHost: xyz\r\n\r\n", "GET /~ HTTP/1.1\r\nHost: xyz\r\n\r\n", true},
	{"a coding that Connection names", "POST P HTTP/1.1\r\nHost: x\r\nConnection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "abc", true},
	{"an expectation nobody knows", "POST P HTTP/1.1\r\nHost: x\r\nExpect: 100-continue, 200-ok\r\nContent-Length: 3\r\n\r\nabc", "abc", false},
}

// fill puts the paths in.
func (f framing) fill(path string) (raw string) {
	return strings.NewReplacer(" P ", " "+path+" ", " P\r", " "+path+"\r", " S ", " "+smuggled+" ", "/S", smuggled).Replace(f.raw)
}

// judge says what is wrong with what arrived of a framing, "" if nothing is.
func (f framing) judge(r *recorder, path string) string {
	if n := len(r.about(smuggled)); n > 0 {
		return fmt.Sprintf("%d smuggled requests arrived", n)
	}
	all := r.about(path)
	came := slices.DeleteFunc(slices.Clone(all), func(a arrival) bool { return a.target != path })
	switch {
	case len(all) != len(came):
		return fmt.Sprintf("something else than %q arrived: %+v", path, all)
	case len(came) > 1:
		return fmt.Sprintf("%d requests arrived", len(came))
	case len(came) == 0:
		if f.body != refused {
			return "nothing arrived of a request with one meaning"
		}
		return ""
	}
	a := came[0]
	switch {
	case len(a.odd) > 0:
		return strings.Join(a.odd, "; ")
	case f.body == refused && a.complete():
		return fmt.Sprintf("it arrived: %q %q", a.header, a.body)
	case f.body != refused && a.body != f.body:
		return fmt.Sprintf("the body %q arrived, want %q", a.body, f.body)
	}
	return ""
}

// complete reports whether a server would act on the request. One whose body broke
// off is not one.
func (a arrival) complete() bool {
	n := a.values("Content-Length")
	if len(n) == 1 {
		return fmt.Sprint(len(a.body)) == n[0]
	}
	return len(a.values("Transfer-Encoding")) == 0 || a.ended
}

// TestAmbiguousFramings: what has two readings is refused, or arrives in one. Each
// is sent as the first request of a connection and after a plain one, so that both
// of the gateway's servers meet it.
func TestAmbiguousFramings(t *testing.T) {
	for _, position := range []string{"first", "second"} {
		t.Run(position, func(t *testing.T) {
			for i, f := range framings {
				t.Run(f.name, func(t *testing.T) {
					r := record(t)
					g := stand(t, r.addr, "limits: { read_header: 1s }")
					path := fmt.Sprintf("/%s/%d", position, i)
					c := dial(t, g.addr, "")
					in := bufio.NewReader(c)
					if position == "second" {
						io.WriteString(c, "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n")
						if res, err := http.ReadResponse(in, nil); err != nil || res.StatusCode != 200 {
							t.Fatalf("the plain request: %v, %v", res, err)
						} else {
							io.Copy(io.Discard, res.Body)
						}
					}
					io.WriteString(c, f.fill(path))
					answered := settle(c, in, soon)
					if say := f.judge(r, path); say != "" {
						t.Errorf("%s (answered %s)", say, answered)
					}
					g.behaves("/well") // and gets its own answer, not the smuggled one's
				})
			}
		})
	}
}

// quiet is how long nobody says anything once all has been said.
const quiet = 100 * time.Millisecond

// settle reads until the peer closes, or says nothing for a while after its first
// word, which it waits for, and returns the first status.
func settle(c net.Conn, in *bufio.Reader, first time.Duration) string {
	c.SetReadDeadline(time.Now().Add(first))
	in.Peek(1)
	c.SetReadDeadline(time.Now().Add(quiet))
	b, _ := io.ReadAll(in)
	return status(string(b))
}
