package wire

import (
	"net/http"
	"strings"
)

// Field is one line of a header. The name is as it was sent.
type Field struct{ Name, Value string }

// Is reports whether the field has that name; names have no case.
func (f Field) Is(name string) bool {
	return len(f.Name) == len(name) && strings.EqualFold(f.Name, name)
}

// scan appends the fields of a header to fields, up to and with the empty line
// that ends it. It reports false for anything but lines of a name, a colon and a
// value that end in CR LF: no folding, no bare CR or LF, no control characters,
// no space before the colon.
func scan(s string, fields []Field) ([]Field, bool) {
	for {
		end := strings.IndexByte(s, '\n')
		if end < 1 || s[end-1] != '\r' {
			return fields, false
		}
		line := s[:end-1]
		s = s[end+1:]
		if line == "" {
			return fields, s == ""
		}
		colon := strings.IndexByte(line, ':')
		if colon < 1 || len(fields) == fieldsMost || !token(line[:colon]) {
			return fields, false
		}
		value := trim(line[colon+1:])
		if !clean(value) {
			return fields, false
		}
		fields = append(fields, Field{line[:colon], value})
	}
}

// trim strikes off the white space around a value, which a CR is not.
func trim(s string) string { return strings.Trim(s, " \t") }

// fieldsMost is how many lines a plain header has at most.
const fieldsMost = 100

// What a byte may be part of.
const (
	inToken = 1 << iota // RFC 9110, 5.6.2
	inValue             // RFC 9110, 5.5, with the bytes above 127 that it calls obsolete
	inPath              // of a URL, and stands for itself
	inHost
)

var bytesOf = func() (t [256]byte) {
	set := func(s string, in byte) {
		for i := range len(s) {
			t[s[i]] |= in
		}
	}
	const alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	set(alphanumeric, inToken|inPath|inHost)
	set("!#$%&'*+-.^_`|~", inToken)
	set("-._~$&+,;=:@/", inPath)
	set("-._:[]", inHost)
	for c := range 256 {
		if c == '\t' || c >= ' ' && c != 0x7f {
			t[c] |= inValue
		}
	}
	return t
}()

// all reports whether each byte of s may be part of it. Nearly every s is as it should
// be, so that there is nothing to be won by looking for the first that is not.
func all(s string, in byte) bool {
	for ; len(s) >= 4; s = s[4:] {
		in &= bytesOf[s[0]] & bytesOf[s[1]] & bytesOf[s[2]] & bytesOf[s[3]]
	}
	for i := range len(s) {
		in &= bytesOf[s[i]]
	}
	return in != 0
}

func token(s string) bool { return s != "" && all(s, inToken) }
func clean(s string) bool { return all(s, inValue) }

// HopByHop reports whether a field is between neighbours and not passed on (RFC
// 9110, 7.6.1; the same that httputil.ReverseProxy strikes off).
func HopByHop(name string) bool {
	switch len(name) {
	case len("Te"):
		return strings.EqualFold(name, "Te")
	case len("Trailer"):
		return strings.EqualFold(name, "Trailer") || strings.EqualFold(name, "Upgrade")
	case len("Connection"):
		return strings.EqualFold(name, "Connection") || strings.EqualFold(name, "Keep-Alive")
	case len("Proxy-Connection"):
		return strings.EqualFold(name, "Proxy-Connection")
	case len("Transfer-Encoding"):
		return strings.EqualFold(name, "Transfer-Encoding")
	case len("Proxy-Authenticate"):
		return strings.EqualFold(name, "Proxy-Authenticate")
	case len("Proxy-Authorization"):
		return strings.EqualFold(name, "Proxy-Authorization")
	}
	return false
}

// Named reports whether the values of a Connection field name the given field,
// which is then hop-by-hop too.
func Named(connection []string, name string) bool {
	for _, v := range connection {
		for option := range strings.SplitSeq(v, ",") {
			if strings.EqualFold(trim(option), name) {
				return true
			}
		}
	}
	return false
}

// AppendField appends a header line. A value that would end the line, or a name
// that is none, never reaches the wire: whoever sent it is splitting answers.
func AppendField(b []byte, name, value string) []byte {
	if !token(name) {
		return b
	}
	b = append(b, name...)
	b = append(b, ':', ' ')
	if clean(value) {
		b = append(b, value...)
	} else {
		for i := range len(value) {
			if c := value[i]; bytesOf[c]&inValue != 0 {
				b = append(b, c)
			} else {
				b = append(b, ' ')
			}
		}
	}
	return append(b, '\r', '\n')
}

// AppendHeader appends a header's lines, in no order.
func AppendHeader(b []byte, h http.Header) []byte {
	for name, values := range h {
		for _, v := range values {
			b = AppendField(b, name, v)
		}
	}
	return b
}
