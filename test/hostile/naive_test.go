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
// passes on what it read, after an edit. Many have been like that.
func naive(t *testing.T, upstream string, edit func(head string) string) (addr string) {
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
				all.Go(func() { io.Copy(c, up); c.Close() })
				forward(bufio.NewReader(c), up, edit)
			})
		}
	})
	return l.Addr().String()
}

// asItIs edits nothing.
func asItIs(head string) string { return head }

func forward(in *bufio.Reader, up io.Writer, edit func(string) string) {
	for {
		head, length, err := readHead(in)
		if err != nil {
			return
		}
		io.WriteString(up, edit(head))
		if _, err := io.CopyN(up, in, int64(length)); err != nil {
			return
		}
	}
}

// readHead reads until an empty line, and what comes nearest to a length.
func readHead(in *bufio.Reader) (head string, length int, err error) {
	for found := false; ; {
		s, err := in.ReadString('\n')
		if err != nil {
			return head, length, err
		}
		head += s
		if strings.TrimRight(s, "\r\n") == "" {
			return head, length, nil
		}
		name, value, _ := strings.Cut(s, ":")
		if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && !found && strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			length, found = n, true
		}
	}
}

// TestAmbiguousFramingsBite: the table is worth something. The same bytes through a
// naive proxy, or through one that does as Connection says, do what they must not do
// through the gateway.
func TestAmbiguousFramingsBite(t *testing.T) {
	for i, f := range framings {
		t.Run(f.name, func(t *testing.T) {
			say := ""
			for _, edit := range []func(string) string{asItIs, obedient} {
				if say != "" {
					break
				}
				r := record(t)
				c := dial(t, naive(t, r.addr, edit), "")
				path := fmt.Sprintf("/naive/%d", i)
				io.WriteString(c, f.fill(path))
				settle(c, bufio.NewReader(c), quiet)
				c.Close()
				say = f.judge(r, path)
			}
			if f.bites && say == "" {
				t.Errorf("naive proxies withstand it: what does it test?")
			}
			if !f.bites && say != "" {
				t.Errorf("a naive proxy falls for it, say so: %s", say)
			}
		})
	}
}
