package httpgate

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/gate/caller"
)

// A hedge may be told to begin and get to it when its call is over: it finds no body, and
// asks for none, for what that is read from is the caller's again.
func TestAHedgeThatBeginsTooLateFindsNoBody(t *testing.T) {
	for name, k := range map[string]struct {
		rewind, trailed bool
		keep            int64
	}{
		"kept as it is read":                {keep: 1 << 10},
		"to be had again":                   {rewind: true, keep: 1 << 10},
		"to be had again, by nobody so far": {rewind: true},
		"with trailers":                     {rewind: true, trailed: true, keep: 1 << 10},
	} {
		for _, sent := range []bool{true, false} {
			asked := 0
			req := &http.Request{Body: io.NopCloser(strings.NewReader("abc"))}
			if k.rewind {
				req.GetBody = func() (io.ReadCloser, error) { asked++; return http.NoBody, nil }
			}
			if k.trailed {
				req.Trailer = http.Header{"Digest": nil}
			}
			var b clientBody
			var winner *attemptBody
			if fixed := b.take(req, true, k.keep); fixed {
				t.Errorf("%s: it cannot be sent again", name)
			}
			if sent {
				var err error
				if winner, err = b.open(caller.Attempt{}); err != nil {
					t.Fatal(name, err)
				}
			}
			b.settle(winner)
			if late, err := b.open(caller.Attempt{}); late != nil || !errors.Is(err, errBodyGone) || asked > 0 {
				t.Errorf("%s: %v and %v after its call, GetBody asked %d times", name, late, err, asked)
			}
			if winner != nil {
				if read, err := io.ReadAll(winner); string(read) != "abc" || err != nil {
					t.Errorf("%s: the winner reads %q, %v", name, read, err)
				}
			}
		}
	}
}

// Nor does whoever is below hear of it, and the body that it has is closed.
func TestAHedgeThatBeginsTooLateIsNotSent(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	end()
	body := &closes{Reader: strings.NewReader("abc")}
	x := &outgoing{transport: NewTransport(sent(func() { t.Error("it was sent") }), nil), request: &http.Request{Header: http.Header{}, Body: body}}
	x.body.take(x.request, true, 0)
	if resp, err := x.attempt(ctx, caller.Attempt{}); resp.Response != nil || !errors.Is(err, context.Canceled) || !body.closed {
		t.Errorf("%v and %v, the body is closed: %v", resp, err, body.closed)
	}
}

type sent func()

func (f sent) RoundTrip(*http.Request) (*http.Response, error) {
	f()
	return nil, errors.ErrUnsupported
}

type closes struct {
	io.Reader
	closed bool
}

func (c *closes) Close() error { c.closed = true; return nil }
