package accesslog

import "bytes"

// setRequest reads a request line as logs quote it: GET /path?query HTTP/1.1. One
// that is none, such as what a port scanner sends, is ErrNoRequest.
func (e *Entry) setRequest(line []byte) error {
	method, rest, ok := bytes.Cut(line, []byte{' '})
	if !ok || !isMethod(method) {
		return ErrNoRequest
	}
	target := rest
	if i := bytes.LastIndex(rest, []byte(" HTTP/")); i >= 0 {
		target = rest[:i]
	} else if i := bytes.LastIndex(rest, []byte(" ")); i >= 0 && bytes.HasPrefix(rest[i+1:], []byte("<BADREQ>")) {
		return ErrNoRequest
	}
	e.Method = method
	return e.setTarget(target)
}

// setTarget reads what was asked for: a path, a URL, host:port or *.
func (e *Entry) setTarget(target []byte) error {
	if i := bytes.Index(target, []byte("://")); i > 0 && i < 8 && target[0] != '/' {
		host := target[i+3:]
		path := []byte("/")
		if j := bytes.IndexAny(host, "/?"); j >= 0 {
			host, path = host[:j], host[j:]
		}
		if len(e.Host) == 0 {
			e.Host = host
		}
		target = path
	}
	if len(target) == 0 {
		return ErrNoRequest
	}
	path, query, asks := bytes.Cut(target, []byte{'?'})
	e.Path = path
	if asks {
		e.Query = query
	}
	return nil
}

// isMethod reports whether text is a method: letters in capitals, as all that
// have a meaning are, and extensions such as M-SEARCH or VERSION_CONTROL.
func isMethod(text []byte) bool {
	if len(text) == 0 || len(text) > 32 {
		return false
	}
	for _, c := range text {
		if (c < 'A' || c > 'Z') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}
