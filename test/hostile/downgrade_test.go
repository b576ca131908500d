package hostile_test

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// A downgrade is what HTTP/2 can carry and HTTP/1.1 may not be able to.
type downgrade struct {
	name    string
	fields  []string
	data    string
	arrives bool
	// bites says that a proxy which writes down what it was sent does harm with it.
	// The others are what must pass.
	bites bool
}

var smuggle = "\r\n\r\nGET " + smuggled + " HTTP/1.1\r\nHost: x\r\n\r\n"

// post is what a body comes with.
func post(more ...string) []string {
	return append([]string{":method", "POST", ":scheme", "http", ":authority", "x", ":path", "/h2"}, more...)
}

var downgrades = []downgrade{
	{"a plain one", get("/h2"), "", true, false},
	{"with a body", post("content-length", "3"), "abc", true, false},
	{"a body without a length", post(), "abc", true, false},
	{"a body that is a request", post(), smuggle, true, false},
	{"a length that is too large", post("content-length", "10"), "abc", false, true},
	{"a length that is none", post("content-length", "+3"), "abc", false, true},
	{"two lengths", post("content-length", "3", "content-length", "4"), "abc", false, true},
	{"chunked", post("transfer-encoding", "chunked"), "0" + smuggle, false, true},
	{"connection", get("/h2", "connection", "x-tenant"), "", false, true},
	{"upgrade", get("/h2", "upgrade", "websocket"), "", false, true},
	{"te", get("/h2", "te", "gzip"), "", false, true},
	{"te for trailers", get("/h2", "te", "trailers"), "", true, false},
	{"a line end in a value", get("/h2", "x-a", "b"+smuggle), "", false, true},
	{"a line feed in a value", get("/h2", "x-a", "b\nx-c: d"), "", false, true},
	{"a null in a value", get("/h2", "x-a", "b\x00c"), "", false, true},
	{"a line end in a name", get("/h2", "x-a: b\r\nx-c", "d"), "", false, true},
	{"a colon in a name", get("/h2", "x-a:", "d"), "", false, true},
	{"a space in a name", get("/h2", "x-a ", "d"), "", false, true},
	{"capitals in a name", get("/h2", "X-A", "d"), "", false, true},
	{"an empty name", get("/h2", "", "d"), "", false, true},
	{"a line end in the path", get("/h2 HTTP/1.1" + smuggle), "", false, true},
	{"a space in the path", get("/h2 b"), "", false, true},
	{"an empty path", get(""), "", false, true},
	{"another host as path", get("http://192.0.2.1/h2"), "", false, true},
	{"a line end in the host", []string{":method", "GET", ":scheme", "http", ":authority", "x" + smuggle, ":path", "/h2"}, "", false, true},
	{"a line end in the method", []string{":method", "GET /h2 HTTP/1.1" + smuggle, ":scheme", "http", ":authority", "x", ":path", "/h2"}, "", false, true},
	{"a space in the method", []string{":method", "GET " + smuggled, ":scheme", "http", ":authority", "x", ":path", "/h2"}, "", false, true},
	{"two paths", get("/h2", ":path", smuggled), "", false, true},
	{"a pseudo-field after others", []string{":method", "GET", ":scheme", "http", "x-a", "b", ":path", "/h2", ":authority", "x"}, "", false, true},
	{"a pseudo-field nobody knows", append([]string{":evil", "1"}, get("/h2")...), "", false, true},
	{"two hosts", get("/h2", "host", "y"), "", true, true},
	{"a tunnel", []string{":method", "CONNECT", ":authority", "192.0.2.1:22"}, "", false, true},
}

// harm says what is wrong with what came of it, "" if nothing is. After it, /well
// was asked for once, by somebody else.
func (d downgrade) harm(came []arrival) string {
	well := 0
	var its []arrival
	for _, a := range came {
		switch {
		case strings.Contains(a.target, smuggled):
			return "a smuggled request arrived"
		case len(a.odd) > 0:
			return strings.Join(a.odd, "; ")
		case a.target == "/well":
			well++
		default:
			its = append(its, a)
		}
	}
	switch {
	case well != 1:
		return fmt.Sprintf("somebody else's request arrived %d times", well)
	case len(its) > 1 || d.arrives != (len(its) == 1 && its[0].complete()):
		return fmt.Sprintf("%d arrived: %+v", len(its), its)
	case d.arrives && (!strings.HasPrefix(its[0].target, "/h2") || its[0].body != d.data || !slices.Equal(its[0].values("Host"), []string{"x"})):
		return fmt.Sprintf("%+v arrived", its[0])
	}
	return ""
}

// TestDowngrade: what HTTP/2 can carry and HTTP/1.1 cannot is refused, or arrives
// as one request with the same body.
func TestDowngrade(t *testing.T) {
	for _, d := range downgrades {
		t.Run(d.name, func(t *testing.T) {
			r := record(t)
			g := stand(t, r.addr, "")
			c := speak(t, g.addr)
			id := c.ask(d.data == "", d.fields...)
			if d.data != "" {
				c.WriteData(id, true, []byte(d.data))
			}
			c.until(over(id))
			g.behaves("/well")
			if say := d.harm(r.about("")); say != "" {
				t.Error(say)
			}
		})
	}
}

// literal writes an HTTP/2 request down as one of HTTP/1.1.
func literal(t *testing.T, block []byte, data string) string {
	t.Helper()
	fields, err := hpack.NewDecoder(4096, nil).DecodeFull(block)
	if err != nil {
		t.Fatal(err)
	}
	pseudo := map[string]string{}
	var header strings.Builder
	framed := data == ""
	for _, f := range fields {
		switch f.Name {
		case ":method", ":scheme", ":authority", ":path":
			pseudo[f.Name] = f.Value
			continue
		case "content-length", "transfer-encoding":
			framed = true
		}
		fmt.Fprintf(&header, "%s: %s\r\n", f.Name, f.Value)
	}
	if !framed {
		fmt.Fprintf(&header, "content-length: %d\r\n", len(data))
	}
	return fmt.Sprintf("%s %s HTTP/1.1\r\nhost: %s\r\n%s\r\n%s", pseudo[":method"], pseudo[":path"], pseudo[":authority"], &header, data)
}

// hear returns what a recorder hears on a connection on which all this comes, and
// then somebody else's request.
func hear(text string) (came []arrival) {
	in := bufio.NewReader(strings.NewReader(text + "GET /well HTTP/1.1\r\nHost: x\r\n\r\n"))
	for {
		a, err := read(in)
		if a.method != "" {
			came = append(came, a)
		}
		if err != nil {
			return came
		}
	}
}

// TestDowngradeBite: the same header blocks and bodies, written down by a proxy that
// looks at nothing, to a connection that it has for all its callers.
func TestDowngradeBite(t *testing.T) {
	for _, d := range append(downgrades, ofNothing) {
		t.Run(d.name, func(t *testing.T) {
			say := d.harm(hear(literal(t, encode(d.fields...), d.data)))
			if d.bites && say == "" {
				t.Error("a literal proxy withstands it: what does it test?")
			}
			if !d.bites && say != "" {
				t.Errorf("a literal proxy falls for it, say so: %s", say)
			}
		})
	}
}

// ofNothing is a body that was said to be none.
var ofNothing = downgrade{"a body of nothing", post("content-length", "0"), "GET " + smuggled + " HTTP/1.1\r\nHost: x\r\n\r\n", false, true}

// TestDowngradeOfNothing: a body that was said to be none is none. Whether its
// request arrives before it is broken off is a matter of time.
func TestDowngradeOfNothing(t *testing.T) {
	r := record(t)
	g := stand(t, r.addr, "")
	c := speak(t, g.addr)
	id := c.ask(false, ofNothing.fields...)
	c.WriteData(id, true, []byte(ofNothing.data))
	c.until(over(id))
	g.behaves("/well")
	came := r.about("/h2")
	if len(r.about(smuggled)) > 0 || len(came) > 1 || len(came) == 1 && (came[0].body != "" || len(came[0].odd) > 0) {
		t.Errorf("%+v arrived, and %d smuggled", came, len(r.about(smuggled)))
	}
}

// forged are trailers that say what only a header may.
var forged = []string{"x-sum", "1", "x-tenant", "forged", "x-forwarded-for", "192.0.2.1"}

// takenIn reports whether a request came with what trailers forged.
func takenIn(came []arrival) bool {
	return len(came) != 1 || len(came[0].values("X-Tenant")) > 0 || strings.Contains(fmt.Sprint(came[0].header, came[0].trailer), "192.0.2.1")
}

// TestHTTP2TrailersForgeNothing: a field after the body is no field before it.
func TestHTTP2TrailersForgeNothing(t *testing.T) {
	r := record(t)
	c := speak(t, stand(t, r.addr, "").addr)
	id := c.ask(false, post("trailer", "x-tenant, x-sum")...)
	c.WriteData(id, false, []byte("abc"))
	c.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: c.fields(forged...), EndStream: true, EndHeaders: true})
	c.until(over(id))
	if came := r.about("/h2"); takenIn(came) {
		t.Errorf("%+v arrived", came)
	}
	// A proxy that waits for the whole of a request has the trailers among its fields.
	if !takenIn(hear(literal(t, encode(post(forged...)...), "abc"))[:1]) {
		t.Error("a literal proxy withstands it: what does it test?")
	}
}
