package config

import (
	"net/textproto"
	"strconv"
	"strings"
)

// KeyKind is where in a request a [Key] looks.
type KeyKind string

// The places a key can be read from.
const (
	FromHeader KeyKind = "header" // a request header, first value
	FromCookie KeyKind = "cookie" // a cookie by name
	FromQuery  KeyKind = "query"  // a parameter of the URL's query
	FromPath   KeyKind = "path"   // a segment of the path, from 1
	FromClient KeyKind = "client" // the caller's address, as trusted proxies tell it, without port
	// FromIdentity is who the caller has proved to be; nothing it writes counts.
	FromIdentity KeyKind = "identity"
)

// maxSegment bounds path:N; deeper paths are not where a tenant is named.
const maxSegment = 64

// Key says what of a request names its tenant, session, importance or cost:
// "header:X-Tenant", "cookie:sid", "query:user", "path:2" or "client". The zero
// Key is none.
type Key struct {
	Kind    KeyKind
	Name    string // of the header (canonical form), cookie or parameter
	Segment int    // of the path, 1 is the first: "acme" in /acme/orders
}

// IsZero reports whether no key was written.
func (k Key) IsZero() bool { return k.Kind == "" }

// String is the key as written in a file.
func (k Key) String() string {
	switch k.Kind {
	case "":
		return ""
	case FromClient, FromIdentity:
		return string(k.Kind)
	case FromPath:
		return "path:" + strconv.Itoa(k.Segment)
	}
	return string(k.Kind) + ":" + k.Name
}

const keyForms = "write header:NAME, cookie:NAME, query:NAME, path:N, client or identity"

func (k *Key) parse(tag, text string) error {
	kind, name, _ := strings.Cut(text, ":")
	got := Key{Kind: KeyKind(kind), Name: name}
	switch got.Kind {
	case FromHeader:
		if !isToken(name) {
			return bad("write header:NAME, as in header:X-Tenant", "%s names no header", quote(text))
		}
		got.Name = textproto.CanonicalMIMEHeaderKey(name)
	case FromCookie:
		if !isToken(name) {
			return bad("write cookie:NAME, as in cookie:sid", "%s names no cookie", quote(text))
		}
	case FromQuery:
		if name == "" {
			return bad("write query:NAME, as in query:user", "%s names no parameter", quote(text))
		}
	case FromPath:
		n, err := strconv.Atoi(name)
		if err != nil || n < 1 || n > maxSegment || !allDigits(name) {
			return bad("write path:1 for the first segment, up to path:64", "%s names no segment", quote(text))
		}
		got.Name, got.Segment = "", n
	case FromClient, FromIdentity:
		if text != kind {
			return bad("write "+kind+" alone", "%s is not a key", quote(text))
		}
	default:
		return bad(keyForms, "%s is not a key", quote(text))
	}
	*k = got
	return nil
}

func (k Key) format() string { return k.String() }
func (Key) kind() string     { return "key" }
func (Key) schema() map[string]any {
	return map[string]any{"type": "string", "pattern": `^((header|cookie|query):.+|path:[0-9]+|client|identity)$`,
		"examples": []any{"header:X-Tenant", "cookie:sid", "query:user", "path:1", "client", "identity"}}
}

// isToken reports whether s is a token of RFC 9110 5.6.2: a header, method or cookie name.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}
	return s != "" && len(s) <= 256
}
