package config

import (
	"net/url"
	"strings"
)

// QueryValue returns the first value of a parameter of a URL's query, and whether
// there is one. One that net/url cannot parse is not forwarded, and so names nobody.
func QueryValue(query, name string) (string, bool) {
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		if strings.Contains(pair, ";") {
			continue
		}
		key, value, _ := strings.Cut(pair, "=")
		key, errKey := url.QueryUnescape(key)
		if errKey != nil || key != name {
			continue
		}
		if value, err := url.QueryUnescape(value); err == nil {
			return value, true
		}
	}
	return "", false
}

// PathSegment returns the nth segment of a path, 1 being the first.
func PathSegment(path string, n int) string {
	path = strings.TrimPrefix(path, "/")
	for ; n > 1; n-- {
		var ok bool
		if _, path, ok = strings.Cut(path, "/"); !ok {
			return ""
		}
	}
	s, _, _ := strings.Cut(path, "/")
	return s
}
