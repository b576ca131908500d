package wire

import (
	"context"
	"strings"
	"testing"
)

// Whether any of an answer's body need be waited for is known from its header and what
// came with it. What is added to its fields finds room beside them.
func TestWhole(t *testing.T) {
	for _, k := range []struct {
		name, method, text string
		whole              bool
	}{
		{"all of it is here", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", true},
		{"there is none", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true},
		{"there never is", "GET", "HTTP/1.1 204 No Content\r\n\r\n", true},
		{"nobody asked for it", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", true},
		{"more is to come", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", false},
		{"it ends where it ends", "GET", "HTTP/1.1 200 OK\r\n\r\nhello", false},
		{"chunks, though all are here", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", false},
	} {
		c, err := upstream(t, k.text).Connect(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Send([]byte(k.method + " / HTTP/1.1\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		if err := c.Await(); err != nil {
			t.Fatal(err)
		}
		for c.br.Buffered() < len(k.text) { // it may come in pieces
			if _, err := c.br.Peek(c.br.Buffered() + 1); err != nil {
				t.Fatal(err)
			}
		}
		a, err := c.Answer(k.method)
		if err != nil {
			t.Fatal(err)
		}
		if c.Whole() != k.whole {
			t.Errorf("%s: whole is %t", k.name, c.Whole())
		}
		if room := cap(a.Fields) - len(a.Fields); room < fieldsAdded {
			t.Errorf("%s: room for %d fields more", k.name, room)
		}
		c.Cut()
	}
}

// One byte that may not be there is found wherever it is.
func TestAll(t *testing.T) {
	for n := range 13 {
		good := strings.Repeat("a", n)
		if !all(good, inToken) {
			t.Errorf("%q is no token", good)
		}
		for i := range n {
			if bad := good[:i] + ":" + good[i+1:]; all(bad, inToken) {
				t.Errorf("%q is a token", bad)
			}
		}
	}
}
