package hostile_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A target is what a request asks for, of whom it likes. ELSE stands for a server
// that runs and that no configuration names.
type target struct {
	name, first, host string
	status            string
	target, asked     string // what may arrive, and for which host; "": nothing
	// bites says that a proxy which asks whoever a request names, in whatever words,
	// does harm with it. The others are what must pass.
	bites bool
}

var targets = []target{
	{"another scheme and host", "GET http://ELSE/a HTTP/1.1", "x", "200 OK", "/a", "ELSE", true},
	{"another host with a login", "GET http://u:p@ELSE/a HTTP/1.1", "x", "200 OK", "/a", "ELSE", true},
	{"https", "GET https://ELSE/a HTTP/1.1", "x", "200 OK", "/a", "ELSE", true},
	{"a file", "GET file:///etc/passwd HTTP/1.1", "x", "200 OK", "/etc/passwd", "x", true},
	{"two slashes", "GET //ELSE/a HTTP/1.1", "x", "200 OK", "//ELSE/a", "x", true},
	{"three slashes", "GET ///ELSE/a HTTP/1.1", "x", "200 OK", "///ELSE/a", "x", true},
	{"a login in the path", "GET /@ELSE/a HTTP/1.1", "x", "200 OK", "/@ELSE/a", "x", false},
	{"a login without a slash", "GET @ELSE/a HTTP/1.1", "x", "400 Bad Request", "", "", true},
	{"a password without a slash", "GET :@ELSE/a HTTP/1.1", "x", "400 Bad Request", "", "", true},
	{"a backslash", "GET \\\\ELSE\\a HTTP/1.1", "x", "400 Bad Request", "", "", true},
	{"a backslash after a slash", "GET /\\ELSE/a HTTP/1.1", "x", "200 OK", "/%5CELSE/a", "x", true},
	{"a fragment", "GET /a#@ELSE HTTP/1.1", "x", "200 OK", "/a%23@ELSE", "x", true},
	{"a URL as the path", "GET /http://ELSE/a HTTP/1.1", "x", "200 OK", "/http://ELSE/a", "x", true},
	{"a URL in the query", "GET /a?url=http://ELSE/ HTTP/1.1", "x", "200 OK", "/a?url=http://ELSE/", "x", true},
	{"dots that climb", "GET /a/../../b HTTP/1.1", "x", "200 OK", "/b", "x", true},
	{"dots in disguise", "GET /a/%2e%2e/b HTTP/1.1", "x", "400 Bad Request", "", "", true},
	{"an encoded slash between dots", "GET /a/..%2fb HTTP/1.1", "x", "400 Bad Request", "", "", true},
	{"an encoded line end", "GET /a%0d%0aX-Tenant:%20b HTTP/1.1", "x", "200 OK", "/a%0d%0aX-Tenant:%20b", "x", true},
	{"a tunnel", "CONNECT ELSE HTTP/1.1", "ELSE", "400 Bad Request", "", "", true},
	{"a tunnel to a path", "CONNECT /a HTTP/1.1", "x", "400 Bad Request", "", "", true},
	{"the server as a whole", "OPTIONS * HTTP/1.1", "x", "200 OK", "*", "x", false},
	{"a star for something else", "GET * HTTP/1.1", "x", "400 Bad Request", "", "", true},
	{"a host that is another", "GET /a HTTP/1.1", "ELSE", "200 OK", "/a", "ELSE", true},
	{"a host that is a path", "GET /a HTTP/1.1", "x/../b", "400 Bad Request", "", "", true},
	{"a host that is a login", "GET /a HTTP/1.1", "u@ELSE", "400 Bad Request", "", "", true},
}

// at puts the address of the other server in.
func (o target) at(elsewhere string) target {
	for _, s := range []*string{&o.first, &o.host, &o.target, &o.asked} {
		*s = strings.ReplaceAll(*s, "ELSE", elsewhere)
	}
	return o
}

// text is the request.
func (o target) text() string {
	return o.first + "\r\nHost: " + o.host + "\r\nConnection: close\r\n\r\n"
}

// harm says what the request has done that it must not, "" if nothing.
func (o target) harm(other *elsewhere, came []arrival, answered string) string {
	switch {
	case other.asked.Load() > 0:
		return "a server was asked that no configuration names"
	case strings.Contains(answered, "root:"):
		return "a file of the proxy's own was given away"
	}
	for _, a := range came {
		if len(a.odd) > 0 || a.target != o.target || !slices.Equal(a.values("Host"), []string{o.asked}) || len(a.values("X-Tenant")) > 0 {
			return fmt.Sprintf("%+v arrived, want %q for %q", a, o.target, o.asked)
		}
	}
	return ""
}

// elsewhere is a server that nobody may be brought to ask.
type elsewhere struct {
	addr  string
	asked atomic.Int32
}

func standElsewhere(t *testing.T) *elsewhere {
	e := new(elsewhere)
	e.addr = serveEach(t, func(c net.Conn) {
		e.asked.Add(1)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	})
	return e
}

// TestTargets: whatever a request asks for, the only server asked is the one that
// the configuration names, for what was decided about.
func TestTargets(t *testing.T) {
	for _, o := range targets {
		t.Run(o.name, func(t *testing.T) {
			r, other := record(t), standElsewhere(t)
			o := o.at(other.addr)
			all := ends(t, dial(t, stand(t, r.addr, "").addr, o.text()))
			if got := status(all); !strings.HasPrefix(got, o.status) {
				t.Errorf("answered %q, want %q", got, o.status)
			}
			came := r.about("")
			if say := o.harm(other, came, all); say != "" {
				t.Error(say)
			}
			if n := len(came); n > 1 || (n == 1) != (o.target != "") {
				t.Errorf("%+v arrived, want %q", came, o.target)
			}
		})
	}
}

// whom returns whom a request names, as proxies have understood it that put URLs
// together from text, follow the first that they find, take a backslash for a slash
// as browsers do, or believe Host.
func whom(upstream, target, host string) (*url.URL, error) {
	target = strings.ReplaceAll(target, `\`, "/")
	_, query, _ := strings.Cut(target, "url=")
	for _, s := range []string{target, strings.TrimPrefix(target, "/"), query} {
		if u, err := url.Parse(s); err == nil && u.IsAbs() && strings.Contains(s, "://") {
			return u, nil
		}
	}
	if strings.HasPrefix(target, "//") {
		return url.Parse("http://" + strings.TrimLeft(target, "/"))
	}
	_, after, login := strings.Cut(host, "@")
	if !login {
		after = host
	}
	if address, _, err := net.SplitHostPort(after); err == nil && net.ParseIP(address) != nil {
		upstream = host
	}
	return url.Parse("http://" + upstream + target)
}

// eager is a proxy that asks whoever a request names. What it can make no sense of
// it passes on as it is.
func eager(t *testing.T, upstream string) (addr string) {
	return serveEach(t, func(c net.Conn) {
		head, _, _ := readHead(bufio.NewReader(c))
		first, header, _ := strings.Cut(head, "\r\n")
		method, target, _ := strings.Cut(strings.TrimSuffix(first, " HTTP/1.1"), " ")
		if method == "CONNECT" && !strings.HasPrefix(target, "/") {
			tunnel(c, target, "")
			return
		}
		host, _, _ := strings.Cut(strings.TrimPrefix(header, "Host: "), "\r\n")
		u, err := whom(upstream, target, host)
		switch {
		case err != nil:
			tunnel(c, upstream, head)
		case u.Scheme == "file":
			b, _ := os.ReadFile(u.Path)
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\n\r\n%s", b)
		default:
			path := u.Path
			if u.RawQuery != "" {
				path += "?" + u.RawQuery
			}
			tunnel(c, u.Host, method+" "+path+" HTTP/1.1\r\n"+header)
		}
	})
}

// tunnel sends text to a server and all that it answers back.
func tunnel(c net.Conn, to, text string) {
	up, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer up.Close()
	io.WriteString(up, text)
	up.(*net.TCPConn).CloseWrite()
	io.Copy(c, up)
}

// TestTargetsBite: the same requests have an eager proxy do what the gateway must
// not.
func TestTargetsBite(t *testing.T) {
	for _, o := range targets {
		t.Run(o.name, func(t *testing.T) {
			r, other := record(t), standElsewhere(t)
			o := o.at(other.addr)
			all := ends(t, dial(t, eager(t, r.addr), o.text()))
			say := o.harm(other, r.about(""), all)
			if o.bites && say == "" {
				t.Error("an eager proxy withstands it: what does it test?")
			}
			if !o.bites && say != "" {
				t.Errorf("an eager proxy falls for it, say so: %s", say)
			}
		})
	}
}

// serveEach serves one connection after another until the test ends.
func serveEach(t *testing.T, serve func(net.Conn)) (addr string) {
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
			serve(c)
			c.Close()
		}
	})
	return l.Addr().String()
}
