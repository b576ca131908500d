package config

import (
	"net/textproto"
	"slices"
	"strings"
)

// Pattern is a [Match] ready to be asked, as plain data. The zero Pattern fits
// everything. Safe for concurrent use; asking allocates nothing.
type Pattern struct {
	Paths   []Glob       // one must fit; none: any path
	Methods []string     // one must be equal; none: any
	Hosts   []string     // lower case, exact or "*.suffix"; one must fit; none: any
	Headers []HeaderGlob // all must fit
}

// Glob is a text that is matched exactly, or with Rest as a prefix.
type Glob struct {
	Text string
	Rest bool
}

// HeaderGlob is a header that must be there with a value that fits. Name is in
// canonical form.
type HeaderGlob struct {
	Name  string
	Value Glob
}

// Pattern compiles a match that passed [Parse] or [Config.Validate]. Its Expr, which
// needs a language, is not part of it.
func (m Match) Pattern() Pattern {
	var p Pattern
	if !slices.Contains(m.Path, "/*") { // which is everything, "OPTIONS *" included
		for _, s := range m.Path {
			p.Paths = append(p.Paths, glob(s))
		}
	}
	p.Methods = slices.Clone([]string(m.Method))
	for _, h := range m.Host {
		p.Hosts = append(p.Hosts, strings.ToLower(h))
	}
	for name, value := range m.Headers {
		p.Headers = append(p.Headers, HeaderGlob{textproto.CanonicalMIMEHeaderKey(name), glob(value)})
	}
	slices.SortFunc(p.Headers, func(a, b HeaderGlob) int { return strings.Compare(a.Name, b.Name) })
	return p
}

func glob(s string) Glob {
	text, rest := strings.CutSuffix(s, "*")
	return Glob{Text: text, Rest: rest}
}

// Matches reports whether a request fits. path is the decoded path that the upstream
// will see, dot segments already resolved: matching one path and forwarding another
// would let a caller choose its class. host may carry a port and any case. header
// gives the first value of a header by canonical name, "" where there is none; it is
// asked only if everything else fits.
func (p Pattern) Matches(method, host, path string, header func(name string) string) bool {
	switch {
	case len(p.Methods) > 0 && !slices.Contains(p.Methods, method),
		len(p.Paths) > 0 && !p.matchesPath(path),
		len(p.Hosts) > 0 && !p.matchesHost(host):
		return false
	}
	for _, h := range p.Headers {
		if v := header(h.Name); v == "" || !h.Value.matches(v) {
			return false
		}
	}
	return true
}

func (p Pattern) matchesPath(path string) bool {
	for _, g := range p.Paths {
		if g.matches(path) {
			return true
		}
	}
	return false
}

func (p Pattern) matchesHost(host string) bool {
	host = WithoutPort(host)
	for _, h := range p.Hosts {
		if hostFits(h, host) {
			return true
		}
	}
	return false
}

func (g Glob) matches(s string) bool {
	if g.Rest {
		return strings.HasPrefix(s, g.Text)
	}
	return s == g.Text
}

// covers reports whether everything that fits b fits g.
func (g Glob) covers(b Glob) bool {
	if g.Rest {
		return strings.HasPrefix(b.Text, g.Text)
	}
	return !b.Rest && g.Text == b.Text
}

// hostFits reports whether a host without port fits an exact or *.suffix pattern.
func hostFits(pattern, host string) bool {
	suffix, any := strings.CutPrefix(pattern, "*")
	if !any {
		return len(host) == len(pattern) && strings.EqualFold(host, pattern)
	}
	cut := len(host) - len(suffix)
	return cut > 0 && strings.EqualFold(host[cut:], suffix)
}

// WithoutPort cuts :port and the final dot of a Host header; [::1]:80 is ::1.
func WithoutPort(host string) string {
	if strings.HasPrefix(host, "[") {
		if end := strings.IndexByte(host, ']'); end > 0 {
			return host[1:end]
		}
		return host
	}
	if colon := strings.IndexByte(host, ':'); colon >= 0 && strings.LastIndexByte(host, ':') == colon {
		host = host[:colon]
	}
	return strings.TrimSuffix(host, ".")
}

// Covers reports whether every request that fits b fits p: a class with b after one
// with p would never be asked. It never says so wrongly; several patterns that cover
// b only together are not seen.
func (p Pattern) Covers(b Pattern) bool {
	for _, h := range p.Headers {
		if !slices.ContainsFunc(b.Headers, func(o HeaderGlob) bool { return o.Name == h.Name && h.Value.covers(o.Value) }) {
			return false
		}
	}
	return coversAll(p.Paths, b.Paths, Glob.covers) &&
		coversAll(p.Methods, b.Methods, func(x, y string) bool { return x == y }) &&
		coversAll(p.Hosts, b.Hosts, hostCovers)
}

// coversAll reports whether each of b is covered by one of a; no entries are everything.
func coversAll[T any](a, b []T, covers func(x, y T) bool) bool {
	if len(a) == 0 {
		return true
	}
	if len(b) == 0 {
		return false
	}
	for _, y := range b {
		if !slices.ContainsFunc(a, func(x T) bool { return covers(x, y) }) {
			return false
		}
	}
	return true
}

func hostCovers(a, b string) bool {
	if strings.HasPrefix(b, "*") {
		return a == b || strings.HasPrefix(a, "*") && strings.HasSuffix(b, a[1:])
	}
	return hostFits(a, b)
}
