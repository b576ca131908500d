package wire

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
)

// Held is the body of a plain request: it came whole, with its header.
type Held struct {
	io.ReadCloser
	Bytes []byte
}

// HeldBody returns the body of a request if all of it is in memory: none at all,
// or that of a plain request.
func HeldBody(r *http.Request) (body []byte, ok bool) {
	switch b := r.Body.(type) {
	case nil:
		return nil, true
	case *Held:
		return b.Bytes, true
	}
	return nil, r.Body == http.NoBody
}

// headEnd returns the length of the header that b begins with, or 0 if its end
// has not come.
func headEnd(b []byte) int {
	if i := bytes.Index(b, []byte("\r\n\r\n")); i >= 0 {
		return i + 4
	}
	return 0
}

// parse makes a request of b if b is one plain request and nothing else.
func parse(ctx context.Context, b []byte, remote string) (*http.Request, bool) {
	end := headEnd(b)
	if end == 0 {
		return nil, false
	}
	head := string(b[:end]) // all that follows are parts of it
	method, rest, _ := strings.Cut(head, " ")
	if !common(method) {
		return nil, false
	}
	line := strings.IndexByte(rest, '\r')
	target, ok := strings.CutSuffix(rest[:line], " HTTP/1.1")
	if !ok || rest[line+1] != '\n' {
		return nil, false
	}
	u, ok := parseTarget(target)
	if !ok {
		return nil, false
	}
	var room [32]Field
	fields, ok := scan(rest[line+2:], room[:0])
	if !ok {
		return nil, false
	}
	r := blank.WithContext(ctx)
	r.Method, r.URL, r.RequestURI, r.RemoteAddr = method, u, target, remote
	if !take(r, fields) {
		return nil, false
	}
	if int64(len(b)-end) != r.ContentLength {
		return nil, false // more is to come, or more than this has
	}
	r.Body = http.NoBody
	if r.ContentLength > 0 {
		body := bytes.Clone(b[end:])
		r.Body = &Held{io.NopCloser(bytes.NewReader(body)), body}
	}
	return r, true
}

// blank is what every plain request begins as. It is only copied.
var blank = &http.Request{Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}

// common lists the methods of plain requests.
func common(method string) bool {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		return true
	}
	return false
}

// parseTarget parses a path with an optional query. What needs care is left to
// net/url, what is no path or names another host to net/http.
func parseTarget(s string) (*url.URL, bool) {
	if s == "" || s[0] != '/' || strings.HasPrefix(s, "//") || strings.IndexByte(s, '#') >= 0 || !visible(s) {
		return nil, false
	}
	path, query, asked := strings.Cut(s, "?")
	if all(path, inPath) && asked == (query != "") {
		return &url.URL{Path: path, RawQuery: query}, true
	}
	u, err := url.ParseRequestURI(s)
	return u, err == nil
}

func visible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// take gives the request its header, unless a field makes it more than plain.
func take(r *http.Request, fields []Field) bool {
	r.Header = make(http.Header, len(fields))
	values := make([]string, len(fields)) // one allocation for all
	length := false
	for i, f := range fields {
		name := textproto.CanonicalMIMEHeaderKey(f.Name)
		switch name {
		case "Host":
			if r.Host != "" || f.Value == "" || !all(f.Value, inHost) {
				return false
			}
			r.Host = f.Value
			continue
		case "Content-Length":
			n, ok := parseLength(f.Value)
			if !ok || length {
				return false
			}
			r.ContentLength, length = n, true
		case "Connection":
			r.Close = strings.EqualFold(f.Value, "close")
			if r.Header["Connection"] != nil || !r.Close && !strings.EqualFold(f.Value, "keep-alive") {
				return false
			}
		case "Transfer-Encoding", "Upgrade", "Expect", "Trailer", "Te", "Http2-Settings":
			return false
		}
		values[i] = f.Value
		if old, ok := r.Header[name]; ok {
			r.Header[name] = append(old, f.Value)
		} else {
			r.Header[name] = values[i : i+1 : i+1]
		}
	}
	return r.Host != ""
}

// parseLength parses a Content-Length: digits and nothing else.
func parseLength(s string) (n int64, ok bool) {
	if s == "" || len(s) > 18 {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n, true
}
