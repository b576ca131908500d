package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spillway-dev/spillway/ledger"
)

// Head is what of a request or an answer is kept beside its body.
type Head struct {
	Method string      `json:"method,omitempty"`
	Target string      `json:"target,omitempty"`
	Host   string      `json:"host,omitempty"`
	Remote string      `json:"remote,omitempty"`
	Secure bool        `json:"secure,omitempty"`
	Header http.Header `json:"header,omitempty"`
	// Importance is what it may claim.
	Importance int `json:"importance,omitempty"`
}

// hopByHop are fields between neighbours, which are nobody else's.
var hopByHop = []string{"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Expect", "Content-Length"}

// kept is a copy of a header without what is between neighbours.
func kept(h http.Header) http.Header {
	out := h.Clone()
	for _, names := range h["Connection"] {
		for name := range strings.SplitSeq(names, ",") {
			out.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hopByHop {
		delete(out, name)
	}
	return out
}

// HeadOf is the head of a request that is to be made.
func HeadOf(r *http.Request) Head {
	return Head{Method: r.Method, Target: r.URL.RequestURI(), Host: r.Host, Remote: r.RemoteAddr, Header: kept(r.Header)}
}

// Message is the head with a body, as the ledger keeps it.
func (h Head) Message(body []byte) (ledger.Message, error) {
	text, err := json.Marshal(h)
	return ledger.Message{Head: text, Body: body}, err
}

// ReadHead reads what the ledger has kept.
func ReadHead(m ledger.Message) (h Head, err error) {
	if err = json.Unmarshal(m.Head, &h); err != nil {
		err = fmt.Errorf("a message in the ledger: %w", err)
	}
	return h, err
}

// Request makes the request that the head and the body are of. It is none of a
// connection: nobody hangs up on it.
func (h Head) Request(ctx context.Context, body []byte) (*http.Request, error) {
	u, err := url.ParseRequestURI(h.Target)
	if err != nil {
		return nil, err
	}
	header := h.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	r := &http.Request{
		Method: h.Method, URL: u, Host: h.Host, RemoteAddr: h.Remote, RequestURI: h.Target, Header: header,
		Proto: "HTTP/2.0", ProtoMajor: 2, // of which nothing is done about an unread body
		// Not http.NoBody, which a plain call takes: how far that has come nobody can see.
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
	return r.WithContext(ctx), nil
}

// WithBody returns the request with a body that has been read.
func WithBody(r *http.Request, body []byte) *http.Request {
	out := r.WithContext(r.Context())
	out.Proto, out.ProtoMajor, out.ProtoMinor = "HTTP/2.0", 2, 0 // see Head.Request
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	out.TransferEncoding = nil
	return out
}
