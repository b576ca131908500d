package hostile_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// naive is what the gateway is not: a proxy that takes a header for whatever ends
// in an empty line, goes by the first Content-Length that it can make sense of, and
// passes on what it read. Many have been like that.
func naive(t *testing.T, upstream string) (addr string) {
	t.Helper()
	l := listen(t)
	var all sync.WaitGroup
	t.Cleanup(func() { l.Close(); all.Wait() })
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				up, err := net.Dial("tcp", upstream)
				if err != nil {
					return
				}
				defer up.Close()
				all.Go(func() { io.Copy(c, up) })
				forward(bufio.NewReader(c), up)
			})
		}
	})
	return l.Addr().String()
}

func forward(in *bufio.Reader, up io.Writer) {
	for {
		var head strings.Builder
		length := 0
		for found := false; ; {
			s, err := in.ReadString('\n')
			if err != nil {
				return
			}
			head.WriteString(s)
			if strings.TrimRight(s, "\r\n") == "" {
				break
			}
			name, value, _ := strings.Cut(s, ":")
			if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && !found && strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
				length, found = n, true
			}
		}
		io.WriteString(up, head.String())
		if _, err := io.CopyN(up, in, int64(length)); err != nil {
			return
		}
	}
}

// TestAmbiguousFramingsBite: the table is worth something. The same bytes through a
// naive proxy do what they must not do through the gateway.
func TestAmbiguousFramingsBite(t *testing.T) {
	for i, f := range framings {
		t.Run(f.name, func(t *testing.T) {
			r := record(t)
			c := dial(t, naive(t, r.addr), "")
			path := fmt.Sprintf("/naive/%d", i)
			io.WriteString(c, f.fill(path))
			settle(c, bufio.NewReader(c), quiet)
			c.Close()
			say := f.judge(r, path)
			if f.bites && say == "" {
				t.Errorf("a naive proxy withstands it: what does it test?")
			}
			if !f.bites && say != "" {
				t.Errorf("a naive proxy falls for it, say so: %s", say)
			}
		})
	}
}
