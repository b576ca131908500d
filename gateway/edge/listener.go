package edge

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/pires/go-proxyproto"
)

// proxyHeaderTime bounds how long a balancer may take to say for whom a
// connection is. It sends that at once.
const proxyHeaderTime = 5 * time.Second

// Options are what a listener does with a connection.
type Options struct {
	// WriteStall is how long 16 KiB may take to be taken by the caller; 0: for
	// ever.
	WriteStall time.Duration
	// Proxies are the networks whose connections begin with a PROXY protocol
	// header. A connection from there without one is closed; from elsewhere it
	// is not looked for, and so is no HTTP.
	Proxies []netip.Prefix
	// UnixProxy says that connections on a unix socket begin with one.
	UnixProxy bool
}

// Wrap returns a listener whose connections are [Conn]s, bounded by caps (nil: not
// bounded).
func Wrap(l net.Listener, caps *Caps, o Options) net.Listener {
	w := &listener{Listener: l, caps: caps, o: o}
	if len(o.Proxies) > 0 || o.UnixProxy {
		w.ready = make(chan accepted)
		w.closed = make(chan struct{})
		go w.introduce()
	}
	return w
}

type listener struct {
	net.Listener
	caps *Caps
	o    Options

	// For the PROXY protocol, whose headers are waited for side by side.
	ready  chan accepted
	closed chan struct{}
	once   sync.Once
}

type accepted struct {
	conn net.Conn
	err  error
}

// Unwrap returns the listener of the operating system.
func (l *listener) Unwrap() net.Listener { return l.Listener }

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	if l.ready != nil {
		if a, ok := <-l.ready; ok {
			return a.conn, a.err
		}
		return nil, net.ErrClosed
	}
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if !l.enter(c) {
			continue
		}
		if k := l.admit(c, c.RemoteAddr(), nil); k != nil {
			return k, nil
		}
	}
}

// Close implements net.Listener. Connections whose PROXY header is still to come
// are accepted yet if it comes.
func (l *listener) Close() error {
	if l.closed != nil {
		l.once.Do(func() { close(l.closed) })
	}
	return l.Listener.Close()
}

func (l *listener) enter(c net.Conn) bool {
	if l.caps == nil || l.caps.enter() {
		return true
	}
	c.Close()
	return false
}

// admit makes the connection one of its caller's, or closes it.
func (l *listener) admit(c net.Conn, remote net.Addr, read func([]byte) (int, error)) net.Conn {
	k := &Conn{Conn: c, read: read, remote: remote, caps: l.caps, stall: l.o.WriteStall}
	if l.caps != nil {
		who := callerOf(remote)
		if !l.caps.from(who) {
			k.Close()
			return nil
		}
		k.who = who
	}
	return k
}

// introduce accepts connections and has each told for whom it is, until the
// listener is closed and the last of them is.
func (l *listener) introduce() {
	var pending sync.WaitGroup
	defer close(l.ready)
	defer pending.Wait()
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			select {
			case <-l.closed:
				return
			case l.ready <- accepted{err: err}: // the server's to judge
				continue
			}
		}
		if l.enter(c) {
			pending.Go(func() { l.learn(c) })
		}
	}
}

// learn reads the PROXY header of a connection that must have one.
func (l *listener) learn(c net.Conn) {
	remote, read := c.RemoteAddr(), (func([]byte) (int, error))(nil)
	if l.proxied(remote) {
		p := proxyproto.NewConn(c, proxyproto.WithPolicy(proxyproto.REQUIRE), proxyproto.SetReadHeaderTimeout(proxyHeaderTime))
		h := p.ProxyHeader()
		if h == nil {
			c.Close()
			if l.caps != nil {
				l.caps.leave(netip.Prefix{})
			}
			return
		}
		// LOCAL, and protocols that are not ours, are the balancer's own.
		if a, ok := h.SourceAddr.(*net.TCPAddr); ok && h.Command.IsProxy() {
			remote = a
		}
		read = p.Read
	}
	if k := l.admit(c, remote, read); k != nil {
		l.ready <- accepted{conn: k}
	}
}

func (l *listener) proxied(a net.Addr) bool {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return l.o.UnixProxy
	}
	addr := t.AddrPort().Addr().Unmap().WithZone("")
	return slices.ContainsFunc(l.o.Proxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}
