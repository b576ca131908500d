package hostile_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// says runs a server that answers whatever it is asked with the same bytes, and
// closes.
func says(t *testing.T, text string) (addr string) {
	t.Helper()
	l := listen(t)
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serveOnce(c, text)
		}
	}()
	return l.Addr().String()
}

func serveOnce(c net.Conn, text string) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		s, err := in.ReadString('\n')
		if err != nil {
			return
		}
		if s == "\r\n" {
			io.WriteString(c, text)
			return
		}
	}
}

// A splitting is what an upstream says so that two answers are heard.
type splitting struct {
	name, upstream string
	status         string // which is answered; "": whichever
	not            string // what no caller may be told
}

var splittings = []splitting{
	{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 40\r\n\r\nokHTTP/1.1 200 OK\r\nX-Evil: 1\r\n\r\n", "502 Bad Gateway", "X-Evil"},
	{"more than it says", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nX-Evil: 1\r\nContent-Length: 0\r\n\r\n", "200 OK", "X-Evil"},
	{"a bare carriage return in a value", "HTTP/1.1 200 OK\r\nX-A: b\rX-Evil: 1\r\nContent-Length: 2\r\n\r\nok", "", "\rX-Evil"},
	{"a null in a value", "HTTP/1.1 200 OK\r\nX-A: b\x00c\r\nContent-Length: 2\r\n\r\nok", "", "\x00"},
	{"a length that is none", "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok", "502 Bad Gateway", "Content-Length: +2"},
	{"no HTTP at all", "SSH-2.0-OpenSSH\r\n", "502 Bad Gateway", "SSH"},
	{"our own fields", "HTTP/1.1 200 OK\r\nSpillway-Reason: operator\r\nSpillway-Rung: cache\r\nContent-Length: 2\r\n\r\nok", "200 OK", "operator"},
	{"an endless header", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X-A: "+strings.Repeat("b", 1000)+"\r\n", 1200) + "Content-Length: 2\r\n\r\nok", "502 Bad Gateway", "X-A"},
	{"a protocol that was not asked for", "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nHTTP/1.1 200 OK\r\nX-Evil: 1\r\n\r\n", "502 Bad Gateway", "X-Evil"},
}

// harm says what is wrong with what a caller has heard, "" if nothing is.
func (s splitting) harm(heard string) string {
	switch {
	case strings.Count(heard, "HTTP/1.1 ") != 1:
		return "not one answer"
	case strings.Contains(heard, s.not):
		return fmt.Sprintf("%q was passed on", s.not)
	case s.status != "" && status(heard) != s.status:
		return fmt.Sprintf("%s, want %s", status(heard), s.status)
	}
	return ""
}

// TestResponseSplitting: an upstream that can be made to say something odd cannot
// make the gateway say two things, or one that a browser reads in two ways.
func TestResponseSplitting(t *testing.T) {
	for _, s := range splittings {
		t.Run(s.name, func(t *testing.T) {
			g := stand(t, says(t, s.upstream), "")
			for _, request := range []string{"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nTE: trailers\r\nConnection: close, TE\r\n\r\n"} {
				all := ends(t, dial(t, g.addr, request))
				if say := s.harm(all); say != "" {
					t.Errorf("%s: %q", say, all)
				}
			}
		})
	}
}

// TestResponseSplittingBite: a proxy that passes on what it read passes it on.
func TestResponseSplittingBite(t *testing.T) {
	for _, s := range splittings {
		t.Run(s.name, func(t *testing.T) {
			all := ends(t, dial(t, naive(t, says(t, s.upstream), asItIs), "GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
			if s.harm(all) == "" || !strings.Contains(all, s.not) {
				t.Errorf("a naive proxy withstands it: what does it test? It says %.200q", all)
			}
		})
	}
}
