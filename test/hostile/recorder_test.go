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

// arrival is a request as the recorder read it: by the letter of RFC 9112, and
// with a note of everything that is not.
type arrival struct {
	method, target string
	header         []string // lines, as they came
	trailer        []string
	body           string
	ended          bool     // the last chunk came
	odd            []string // what a strict server would have stumbled over
}

// values returns those of a field.
func (a arrival) values(name string) []string {
	var all []string
	for _, line := range a.header {
		n, v, _ := strings.Cut(line, ":")
		if strings.EqualFold(n, name) {
			all = append(all, strings.TrimSpace(v))
		}
	}
	return all
}

// recorder is the second server: it shares no line with net/http or the gateway.
type recorder struct {
	addr string
	mu   sync.Mutex
	came []arrival
}

// record runs a recorder. It answers each request with its target.
func record(t testing.TB) *recorder {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{addr: l.Addr().String()}
	var all sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[c] = true
			mu.Unlock()
			all.Go(func() { defer c.Close(); r.serve(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for c := range open { // order does not matter: all are closed
			c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return r
}

func (r *recorder) serve(c net.Conn) {
	in := bufio.NewReader(c)
	for {
		a, err := read(in)
		if err != nil && a.method == "" {
			return
		}
		r.mu.Lock()
		r.came = append(r.came, a)
		r.mu.Unlock()
		if err != nil {
			return
		}
		body := a.target
		if a.method == "HEAD" {
			body = ""
		}
		if _, err := fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(a.target), body); err != nil {
			return
		}
	}
}

// about returns what came whose target holds text.
func (r *recorder) about(text string) []arrival {
	r.mu.Lock()
	defer r.mu.Unlock()
	var some []arrival
	for _, a := range r.came {
		if strings.Contains(a.target, text) {
			some = append(some, a)
		}
	}
	return some
}

// line reads one line and reports how it ended.
func line(in *bufio.Reader, a *arrival) (string, error) {
	s, err := in.ReadString('\n')
	if err != nil {
		return s, err
	}
	s = strings.TrimSuffix(s, "\n")
	if !strings.HasSuffix(s, "\r") {
		a.odd = append(a.odd, fmt.Sprintf("a bare LF after %q", s))
	}
	s = strings.TrimSuffix(s, "\r")
	if strings.ContainsAny(s, "\r\x00") {
		a.odd = append(a.odd, fmt.Sprintf("a control character in %q", s))
	}
	return s, nil
}

func read(in *bufio.Reader) (a arrival, err error) {
	first, err := line(in, &a)
	if err != nil {
		return a, err
	}
	var proto string
	parts := strings.Split(first, " ")
	if len(parts) != 3 {
		a.odd = append(a.odd, fmt.Sprintf("the request line %q", first))
		parts = append(parts, "")
	}
	a.method, a.target, proto = parts[0], strings.Join(parts[1:max(len(parts)-1, 1)], " "), parts[len(parts)-1]
	if proto != "HTTP/1.1" {
		a.odd = append(a.odd, "version "+proto)
	}
	if a.header, err = a.fields(in); err != nil {
		return a, err
	}
	lengths, codings := a.values("Content-Length"), a.values("Transfer-Encoding")
	if len(lengths)+len(codings) > 1 {
		a.odd = append(a.odd, fmt.Sprintf("two framings: %q, %q", lengths, codings))
	}
	switch {
	case len(codings) > 0:
		if !strings.EqualFold(codings[0], "chunked") {
			a.odd = append(a.odd, "coding "+codings[0])
			return a, io.ErrUnexpectedEOF
		}
		return a, a.chunks(in)
	case len(lengths) > 0:
		n, err := strconv.ParseUint(lengths[0], 10, 31)
		if err != nil || strings.HasPrefix(lengths[0], "+") {
			a.odd = append(a.odd, "length "+lengths[0])
			return a, io.ErrUnexpectedEOF
		}
		b := make([]byte, n)
		m, err := io.ReadFull(in, b)
		a.body = string(b[:m])
		return a, err
	}
	return a, nil
}

func (a *arrival) fields(in *bufio.Reader) (lines []string, err error) {
	for {
		s, err := line(in, a)
		if err != nil || s == "" {
			return lines, err
		}
		name, _, ok := strings.Cut(s, ":")
		if !ok || name == "" || strings.ContainsAny(name, " \t") {
			a.odd = append(a.odd, fmt.Sprintf("the field %q", s))
		}
		lines = append(lines, s)
	}
}

func (a *arrival) chunks(in *bufio.Reader) error {
	for {
		s, err := line(in, a)
		if err != nil {
			return err
		}
		n, err := strconv.ParseUint(s, 16, 31)
		if err != nil {
			a.odd = append(a.odd, fmt.Sprintf("the chunk size %q", s))
			return io.ErrUnexpectedEOF
		}
		if n == 0 {
			a.trailer, err = a.fields(in)
			a.ended = err == nil
			return err
		}
		b := make([]byte, n+2)
		m, err := io.ReadFull(in, b)
		a.body += string(b[:min(m, int(n))])
		if err != nil {
			return err
		}
		if string(b[n:]) != "\r\n" {
			a.odd = append(a.odd, "a chunk that ends elsewhere")
			return io.ErrUnexpectedEOF
		}
	}
}
