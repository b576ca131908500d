package trial

import (
	"net/url"
	"path"
	"strings"

	"github.com/spillway-dev/spillway/config"
)

// Classify returns what says which class of the configuration a request of an
// access log is of, by method, host and path as the gateway matches them; empty
// is none. Headers a log does not have: blind are the classes that ask for one
// besides Host, and nothing is taken for them.
func Classify(cfg *config.Config) (classify func(method, host, path string) string, blind []string) {
	type entry struct {
		name    string
		pattern config.Pattern
	}
	var classes []entry
	for _, c := range cfg.Classes {
		p := c.Match.Pattern()
		for _, h := range p.Headers {
			if h.Name != "Host" {
				blind = append(blind, c.Name)
				break
			}
		}
		classes = append(classes, entry{c.Name, p})
	}
	return func(method, host, path string) string {
		path = resolved(path)
		header := func(name string) string {
			if name == "Host" {
				return host
			}
			return ""
		}
		for i := range classes {
			if classes[i].pattern.Matches(method, host, path, header) {
				return classes[i].name
			}
		}
		return ""
	}, blind
}

// resolved decodes a path as it stands in a log and resolves its dot segments,
// as the gateway does before it matches.
func resolved(raw string) string {
	p, err := url.PathUnescape(raw)
	if err != nil {
		p = raw
	}
	if !strings.Contains(p, "/.") {
		return p
	}
	clean := path.Clean(p)
	if strings.HasSuffix(p, "/") || strings.HasSuffix(p, "/.") || strings.HasSuffix(p, "/..") {
		clean = strings.TrimSuffix(clean, "/") + "/"
	}
	return clean
}
