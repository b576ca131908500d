package hostile_test

import (
	"bufio"
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

// TestResponseSplitting: an upstream that can be made to say something odd cannot
// make the gateway say two things, or one that a browser reads in two ways.
func TestResponseSplitting(t *testing.T) {
	for _, tt := range []struct {
		name, upstream string
		status         string
		not            string
	}{
		{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 40\r\n\r\nokHTTP/1.1 200 OK\r\nX-Evil: 1\r\n\r\n", "502 Bad Gateway", "X-Evil"},
		{"more than it says", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nX-Evil: 1\r\nContent-Length: 0\r\n\r\n", "200 OK", "X-Evil"},
		{"a bare carriage return in a value", "HTTP/1.1 200 OK\r\nX-A: b\rX-Evil: 1\r\nContent-Length: 2\r\n\r\nok", "", "\rX-Evil"},
		{"a null in a value", "HTTP/1.1 200 OK\r\nX-A: b\x00c\r\nContent-Length: 2\r\n\r\nok", "", "\x00"},
		{"a length that is none", "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok", "502 Bad Gateway", "Content-Length: +2"},
		{"no HTTP at all", "SSH-2.0-OpenSSH\r\n", "502 Bad Gateway", "SSH"},
		{"our own fields", "HTTP/1.1 200 OK\r\nSpillway-Reason: operator\r\nSpillway-Rung: cache\r\nContent-Length: 2\r\n\r\nok", "200 OK", "operator"},
		{"an endless header", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X-A: "+strings.Repeat("b", 1000)+"\r\n", 1200) + "Content-Length: 2\r\n\r\nok", "502 Bad Gateway", "X-A"},
		{"a protocol that was not asked for", "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nHTTP/1.1 200 OK\r\nX-Evil: 1\r\n\r\n", "502 Bad Gateway", "X-Evil"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := stand(t, says(t, tt.upstream), "")
			for _, request := range []string{"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nTE: trailers\r\nConnection: close, TE\r\n\r\n"} {
				all := ends(t, dial(t, g.addr, request))
				if got := status(all); tt.status != "" && got != tt.status || strings.Count(all, "HTTP/1.1 ") != 1 || strings.Contains(all, tt.not) {
					t.Errorf("answered %q; want %q once, without %q", all, tt.status, tt.not)
				}
			}
		})
	}
}
