package jobs

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// headMost bounds a request's first line and header together, in bytes.
const headMost = 64 << 10

// Check returns what is wrong with the head of a request, or nil: what could not have
// come over a connection cannot come this way either.
func (h *Head) Check() error {
	size := len(h.Method) + len(h.Target) + len(h.Host)
	for name, values := range h.Header { // order does not matter: one of several errors is told
		switch {
		case !httpguts.ValidHeaderFieldName(name):
			return errors.New("request.headers has a name that is no header's")
		case !httpguts.ValidHeaderFieldValue(values[0]):
			return fmt.Errorf("request.headers: the value of %s has characters that no header may have", name)
		}
		size += len(name) + len(values[0]) + 4
	}
	switch {
	case size > headMost:
		return fmt.Errorf("request's headers are larger than %d bytes", headMost)
	case h.Method == "CONNECT" || strings.IndexFunc(h.Method, func(r rune) bool { return r < 'A' || r > 'Z' }) >= 0 || len(h.Method) > 20:
		return errors.New("request.method is none that can be asked")
	case !strings.HasPrefix(h.Target, "/") || strings.ContainsAny(h.Target, " \r\n\t#") || !httpguts.ValidHostHeader(h.Host):
		return errors.New("request.path must begin with / and have no spaces; host must be a host")
	}
	for _, name := range hopByHop {
		if h.Header[name] != nil {
			return fmt.Errorf("request.headers may not have %s, which is between neighbours", name)
		}
	}
	return nil
}
