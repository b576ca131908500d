package trust

import (
	"net/http"
	"net/netip"
	"strings"
)

// Proxies are the peers whose word is taken for where a request comes from. The
// zero Proxies trusts none: a request comes from where its connection does.
type Proxies struct {
	// From are the addresses of the proxies.
	From []netip.Prefix
	// Unix trusts whoever connects to a unix socket.
	Unix bool
	// Forwarded reads the header Forwarded (RFC 7239), else X-Forwarded-For is
	// read. Only one of the two is: what a proxy does not write, it passes on
	// from the caller.
	Forwarded bool
}

// hopsMost bounds how many proxies a request may have come through. Chains of
// four are long; a longer header is somebody's experiment.
const hopsMost = 32

// Origin is where a request comes from.
type Origin struct {
	// Client is the nearest address that no trusted proxy vouches any further
	// for; the zero Addr if even the connection has none.
	Client netip.Addr
	// Peer is the address at the other end of the connection.
	Peer netip.Addr
	// Proxied is whether the peer is a proxy that is trusted.
	Proxied bool
	// Malformed is whether the walk ended at something that is no address.
	Malformed bool
}

// Origin walks from the connection (remote, as net/http gives it) outward: each
// trusted proxy is believed about the hop before it, and nobody else about
// anything. So whatever a caller writes into the header itself lies beyond the
// hop at which the walk ends.
func (p *Proxies) Origin(remote string, h http.Header) Origin {
	peer := peerAddress(remote)
	o := Origin{Client: peer, Peer: peer}
	if !p.trusts(peer) {
		return o
	}
	o.Proxied = true
	hops := hops{lines: h["X-Forwarded-For"]}
	if p.Forwarded {
		hops = hopsOf(h["Forwarded"])
	}
	for range hopsMost {
		text, ok := hops.next()
		if !ok {
			return o
		}
		addr, ok := hopAddress(text, p.Forwarded)
		if !ok {
			o.Malformed = true
			return o
		}
		if o.Client = addr; !p.trusts(addr) {
			return o
		}
	}
	return o
}

func (p *Proxies) trusts(a netip.Addr) bool {
	if !a.IsValid() {
		return p.Unix
	}
	for _, prefix := range p.From {
		if prefix.Contains(a) {
			return true
		}
	}
	return false
}

// peerAddress returns the address of a connection, the zero Addr for a unix
// socket.
func peerAddress(remote string) netip.Addr {
	ap, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	return plain(ap.Addr())
}

// plain returns the address in the one form in which it is compared: no zone,
// and IPv4 as such.
func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// hops are the elements of a header, from the last of its last line to the
// first of its first.
type hops struct {
	lines  []string
	rest   string
	quoted bool // a comma inside quotes does not separate
}

func hopsOf(lines []string) hops { return hops{lines: lines, quoted: true} }

// next returns the next element that is not empty.
func (h *hops) next() (string, bool) {
	for {
		if h.rest == "" {
			if len(h.lines) == 0 {
				return "", false
			}
			last := len(h.lines) - 1
			h.rest, h.lines = h.lines[last], h.lines[:last]
		}
		var element string
		cut := h.comma()
		element, h.rest = h.rest[cut+1:], h.rest[:max(cut, 0)]
		if element = strings.Trim(element, " \t"); element != "" {
			return element, true
		}
	}
}

// comma returns the index of the last one that separates, or -1. Quotes are
// counted from the right, where the trusted proxy has written: an odd one that
// a caller put further left cannot swallow what comes after it.
func (h *hops) comma() int {
	if !h.quoted {
		return strings.LastIndexByte(h.rest, ',')
	}
	inside := false
	for i := len(h.rest) - 1; i >= 0; i-- {
		switch h.rest[i] {
		case '"':
			inside = !inside
		case ',':
			if !inside {
				return i
			}
		}
	}
	return -1
}

// hopAddress reads one element of either header.
func hopAddress(text string, forwarded bool) (netip.Addr, bool) {
	if forwarded {
		var ok bool
		if text, ok = forParameter(text); !ok {
			return netip.Addr{}, false
		}
	}
	return address(text)
}

// forParameter returns the value of for= in an element of Forwarded. An
// identifier that is hidden ("_x") or unknown is returned too, and is no
// address.
func forParameter(element string) (value string, ok bool) {
	if strings.IndexByte(element, '\\') >= 0 {
		return "", false // no address needs an escape
	}
	for element != "" {
		var pair string
		pair, element, _ = strings.Cut(element, ";")
		name, v, found := strings.Cut(strings.Trim(pair, " \t"), "=")
		if !found || !strings.EqualFold(name, "for") {
			continue
		}
		if ok {
			return "", false // for whom, then?
		}
		if n := len(v); n >= 2 && v[0] == '"' && v[n-1] == '"' {
			v = v[1 : n-1]
		}
		value, ok = v, true
	}
	return value, ok
}

// addressMax bounds an address with zone, brackets and port.
const addressMax = 64

// address reads an address with or without port.
func address(s string) (netip.Addr, bool) {
	if len(s) == 0 || len(s) > addressMax {
		return netip.Addr{}, false
	}
	if a, err := netip.ParseAddr(s); err == nil {
		return plain(a), true
	}
	if n := len(s) - 1; s[0] == '[' && s[n] == ']' {
		a, err := netip.ParseAddr(s[1:n])
		return plain(a), err == nil && a.Is6()
	}
	ap, err := netip.ParseAddrPort(s)
	return plain(ap.Addr()), err == nil
}
