package gateway

import (
	"net/http"
	"net/url"
	"path"
	"strings"
)

// resolve makes the path that will be matched the path that the upstream will
// see: dot segments are resolved in both. It returns a request with another URL
// if that changed anything, and false for a path that two servers could read
// differently, which is refused: dot segments beside percent-encoded slashes or
// dots.
func resolve(r *http.Request) (*http.Request, bool) {
	p := r.URL.Path
	if !strings.Contains(p, "/.") {
		return r, true
	}
	clean := path.Clean(p)
	if strings.HasSuffix(p, "/") || strings.HasSuffix(p, "/.") || strings.HasSuffix(p, "/..") {
		clean = strings.TrimSuffix(clean, "/") + "/"
	}
	if !dotted(p) {
		return r, true // a name that begins with a dot, such as /.well-known
	}
	if r.URL.RawPath != "" {
		return r, false
	}
	out := new(http.Request)
	*out = *r
	out.URL = new(url.URL)
	*out.URL = *r.URL
	out.URL.Path = clean
	return out, true
}

// dotted reports whether the path has a segment "." or "..".
func dotted(p string) bool {
	for segment := range strings.SplitSeq(p, "/") {
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}
