package config

import (
	"math"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

func (k *checker) upstream(u Upstream, at string) {
	switch {
	case u.URL.IsZero() && len(u.URLs) == 0 && k.doubtful(join(at, "urls")):
	case u.URL.IsZero() && len(u.URLs) == 0:
		k.missing(at, "url", `add it, as in url: "http://127.0.0.1:9001"`)
	case !u.URL.IsZero() && len(u.URLs) > 0:
		k.report(join(at, "urls"), "keep one of the two", "and url are both written")
	case !u.URL.IsZero():
		k.url(u.URL, join(at, "url"))
	}
	scheme := u.scheme()
	k.copies(u, scheme, join(at, "urls"))
	k.upstreamTLS(u.TLS, scheme, join(at, "tls"))
	k.health(u.Health, scheme, join(at, "health"))
	k.provider(u.Provider, join(at, "provider"))
	sum := 0.0
	for _, s := range u.Service.Mix {
		sum += s.Share
	}
	if len(u.Service.Mix) > 0 && math.Abs(sum-1) > 1e-6 {
		k.report(join(join(at, "service"), "mix"), "make the shares sum to 1", "has shares that sum to %s", strconv.FormatFloat(sum, 'g', 6, 64))
	}
	if k.written(join(at, "service")) && u.Service.Mean() == 0 {
		k.report(join(at, "service"), "give a time such as 100ms, or leave it out", "says nothing")
	}
}

// copies checks the copies that are written as a list.
func (k *checker) copies(u Upstream, scheme, at string) {
	seen := map[string]bool{}
	for i, c := range u.URLs {
		here := join(at, strconv.Itoa(i))
		if long := join(here, "url"); k.written(long) {
			here = long
		}
		t := c.URL
		if t.IsZero() {
			continue // missing, which the ranges say
		}
		k.url(t, here)
		if other, _, _ := strings.Cut(t.Value(), ":"); other != scheme && !k.doubtful(here) {
			k.report(here, "write one upstream for each, or give all copies the same scheme", "is reached by another scheme than the first")
		}
		if seen[t.Value()] {
			k.report(here, "keep one", "is written a second time")
		}
		seen[t.Value()] = true
	}
	if len(u.URLs) > 0 && u.inUse() == 0 {
		k.report(at, "give one of them a weight of 1 or more", "are all of weight 0: no request could go anywhere")
	}
}

// inUse is how many of the copies have a weight.
func (u Upstream) inUse() (n int) {
	for _, w := range u.Weights() {
		if w > 0 {
			n++
		}
	}
	return n
}

// scheme is the scheme of the first URL that has one.
func (u Upstream) scheme() string {
	for _, c := range u.Copies() {
		if scheme, _, ok := strings.Cut(c.URL.Value(), ":"); ok {
			return scheme
		}
	}
	return ""
}

// url never shows the text: it may hold a password or come from a secret.
func (k *checker) url(t Text, at string) {
	u, err := url.Parse(t.Value())
	schemes := []string{"http", "https", "h2c", "unix"}
	switch {
	case err != nil:
		k.report(at, `write it as in "http://127.0.0.1:9001"`, "is not a URL")
	case !slices.Contains(schemes, u.Scheme):
		k.report(at, `begin it with http://, https://, h2c:// or unix:/`, "has no scheme that is known")
	case u.Scheme == "unix":
		if u.Host != "" || !strings.HasPrefix(u.Path, "/") || len(u.Path) > maxSocketPath || u.RawQuery != "" || u.Fragment != "" {
			k.report(at, `write it as in unix:/run/app.sock, at most `+strconv.Itoa(maxSocketPath)+` bytes of path`, "is not a socket's path")
		}
	case u.Hostname() == "":
		k.report(at, `write it as in "http://127.0.0.1:9001"`, "names no host")
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		k.report(at, "end it with the path", "has a query or fragment")
	case u.Port() != "" && !validPort(u.Port()):
		k.report(at, "use a port from 1 to 65535", "has a port that does not exist")
	}
}

func (k *checker) upstreamTLS(t UpstreamTLS, scheme, at string) {
	if t != (UpstreamTLS{}) && scheme != "https" {
		k.report(at, "begin the URL with https://, or remove it", "means nothing without https://")
	}
	switch {
	case !t.Cert.IsZero() && t.Key.IsZero():
		k.missing(at, "key", "add the path of the certificate's private key")
	case t.Cert.IsZero() && !t.Key.IsZero():
		k.missing(at, "cert", "add the path of the key's certificate")
	}
	if _, err := netip.ParseAddr(t.ServerName); t.ServerName != "" && err != nil && !isHostName(t.ServerName) {
		k.report(join(at, "server_name"), "write a name as in app.internal", "is %s, which is not a host's name", quote(t.ServerName))
	}
}

// isHostName reports whether s is a DNS name of letters, digits, hyphens and dots.
func isHostName(s string) bool {
	if len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		ok := label != "" && len(label) <= 63 && label[0] != '-' && label[len(label)-1] != '-'
		for _, r := range label {
			ok = ok && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
		}
		if !ok {
			return false
		}
	}
	return true
}

func (k *checker) health(h Health, scheme, at string) {
	if !h.Checked() {
		return
	}
	http := h.Kind == "" || h.Kind == HealthHTTP
	switch {
	case http && h.Path == "":
		k.missing(at, "path", "add it, as in path: /healthz, or kind: connect or grpc")
	case !http && h.Path != "":
		k.report(join(at, "path"), "remove it, or use kind: http", "means nothing with kind: %s", h.Kind)
	case http && !validCheckPath(h.Path):
		k.report(join(at, "path"), "begin it with /, as in /healthz, without spaces or #", "is %s", quote(h.Path))
	}
	if h.Status != 0 && !http {
		k.report(join(at, "status"), "remove it, or use kind: http", "means nothing with kind: %s", h.Kind)
	}
	if h.Service != "" && h.Kind != HealthGRPC {
		k.report(join(at, "service"), "use kind: grpc, or remove it", "means something with kind: grpc only")
	}
	if len(h.Service) > 200 {
		k.report(join(at, "service"), "write a service's full name, as in shop.v1.Cart", "is %d bytes long", len(h.Service))
	}
	if h.Kind == HealthGRPC && scheme == "unix" {
		k.report(join(at, "kind"), "use kind: http or connect", "is grpc, which unix: does not speak")
	}
}

func validCheckPath(p string) bool {
	u, err := url.ParseRequestURI(p)
	return err == nil && strings.HasPrefix(p, "/") && u.Host == "" && !strings.ContainsAny(p, " #")
}

// unwiseUpstream warns of what an upstream's keys say together with the classes.
func (k *checker) unwiseUpstream(u Upstream, classes []Class) {
	at := join("upstreams", u.Name)
	sum := 0
	for _, c := range classes {
		if c.Upstream == u.Name {
			sum += max(c.Slots.Fixed, c.Slots.Max)
		}
	}
	copies := u.inUse()
	if n := u.Connections * copies; n > 0 && sum > n && u.scheme() != "h2c" && u.Resolve.Addresses == AddressesOne {
		k.advise(join(at, "connections"), "raise it, or lower the classes' slots", "is %d, %d for all copies together, but its classes have %d slots: what has none is answered 502", u.Connections, n, sum)
	}
	if h := u.Health; h.Checked() && h.Timeout > h.Interval {
		k.advise(join(join(at, "health"), "timeout"), "make it shorter than interval", "is %s, longer than interval %s: the next check waits for the one before", h.Timeout, h.Interval)
	}
	if u.Slots > 0 && u.Slots < copies {
		k.advise(join(at, "slots"), "write what all copies can work on together", "is %d, fewer than its %d copies: it is what all of them have together", u.Slots, copies)
	}
}
