package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// An upstream that answers without end, byte by byte, or with more than an answer
// takes neither a caller beyond its deadline nor a slot beyond what its class allows.
func TestUpstreamsThatDoNotEnd(t *testing.T) {
	dribble := func(c net.Conn, text string) {
		for io.WriteString(c, text); ; {
			if _, err := io.WriteString(c, "b"); err != nil {
				return
			}
			timer := time.NewTimer(time.Millisecond)
			<-timer.C
		}
	}
	repeat := func(c net.Conn, text string) {
		for {
			if _, err := io.WriteString(c, text); err != nil {
				return
			}
		}
	}
	const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for name, answer := range map[string]func(net.Conn){
		"hints without end":            func(c net.Conn) { repeat(c, "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n") },
		"a header that dribbles":       func(c net.Conn) { dribble(c, "HTTP/1.1 200 OK\r\nA: ") },
		"a long header that dribbles":  func(c net.Conn) { dribble(c, "HTTP/1.1 200 OK\r\nA: "+strings.Repeat("b", 20<<10)) },
		"header lines without end":     func(c net.Conn) { repeat(c, "HTTP/1.1 200 OK\r\n"+strings.Repeat("A: b\r\n", 100_000)) },
		"a chunk's header without end": func(c net.Conn) { io.WriteString(c, chunked); repeat(c, "1;a=b") },
		"a trailer without end":        func(c net.Conn) { io.WriteString(c, chunked+"0\r\n"); repeat(c, "A: b\r\n") },
		"answers without end":          func(c net.Conn) { repeat(c, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na") },
	} {
		for _, cancel := range []string{"on", "off"} {
			t.Run(name+", cancel "+cancel, func(t *testing.T) {
				l := listen(t)
				defer l.Close()
				go func() {
					for {
						c, err := l.Accept()
						if err != nil {
							return
						}
						go func() {
							defer c.Close()
							bufio.NewReader(c).ReadString('\n')
							answer(c)
						}()
					}
				}()
				h := startAt(t, "http://"+l.Addr().String(), fmt.Sprintf(
					"  all: { slots: 1, deadline: 100ms, abandoned: { cancel: %s, hold_at_most: 100ms } }", cancel))
				for range 2 {
					h.try("GET", "/", nil) // what it comes to is net/http's matter, too
					until(t, "the slot is free", func() bool { return h.state("all").Used == 0 })
				}
			})
		}
	}
}
