package resend

import (
	"io"
	"net/http"
)

// Safe lists the methods that may be sent again when a connection proves stale: those that
// change nothing, which net/http repeats too.
func Safe(method string) bool {
	switch method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}

// Forbid makes a request one that net/http's transport does not send again. That goes by
// the body, and one that cannot be rewound is never sent again; without one, by the method
// and the header, so that such a request gets an empty body where its method is repeated
// (on the wire nothing changes: the "identity" coding keeps it from being sent in chunks),
// and its keys are spelled in a way that is not looked for (header names have no case).
// GetBody is to be nil.
func Forbid(out *http.Request) {
	if out.Body != nil && out.Body != http.NoBody {
		return
	}
	if Safe(out.Method) {
		out.Body = noBody{}
		out.TransferEncoding = identity
		return
	}
	for _, k := range [...][2]string{{"Idempotency-Key", "idempotency-key"}, {"X-Idempotency-Key", "x-idempotency-key"}} {
		if v, ok := out.Header[k[0]]; ok {
			delete(out.Header, k[0])
			out.Header[k[1]] = v
		}
	}
}

var identity = []string{"identity"}

// noBody is a body with nothing in it that is not http.NoBody.
type noBody struct{}

// Read implements io.Reader.
func (noBody) Read([]byte) (int, error) { return 0, io.EOF }

// WriteTo implements io.WriterTo, without which the transport gets a buffer of 32 KiB to
// copy nothing.
func (noBody) WriteTo(io.Writer) (int64, error) { return 0, nil }

// Close implements io.Closer.
func (noBody) Close() error { return nil }
