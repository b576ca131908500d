package resend

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"sync/atomic"
	"time"

	"github.com/spillway-dev/spillway/policy/call"
)

// Sending is what is seen of a request on its way out. The zero value is ready for Watch,
// and used for one request. Its hooks are called on goroutines of the transport's.
type Sending struct {
	// Informed is told of 1xx answers; nil: nobody is. It is set before Watch.
	Informed func(code int, header textproto.MIMEHeader) error

	parent context.Context
	traced context.Context // parent, with the hooks
	hooks  httptrace.ClientTrace

	asked, wrote, began atomic.Bool
	idle                atomic.Int64 // of the latest connection, in nanoseconds; 0: it is new
}

// Watch returns the context for the request to be sent with. It ends with ctx.
func (s *Sending) Watch(ctx context.Context) context.Context {
	s.hooks = httptrace.ClientTrace{
		GetConn:              func(string) { s.asked.Store(true) },
		GotConn:              s.gotConn,
		WroteHeaders:         func() { s.wrote.Store(true) },
		GotFirstResponseByte: func() { s.began.Store(true) },
		Got1xxResponse:       s.Informed,
	}
	s.parent, s.traced = ctx, httptrace.WithClientTrace(ctx, &s.hooks)
	return watched{s}
}

func (s *Sending) gotConn(c httptrace.GotConnInfo) {
	idle := time.Duration(0)
	if c.Reused {
		idle = c.IdleTime
	}
	s.idle.Store(int64(idle))
}

// Unsent reports whether the request surely never reached the service.
func (s *Sending) Unsent() bool { return s.asked.Load() && !s.wrote.Load() }

// Asked reports whether a connection was asked for. Of a base that is not net/http's
// nothing is seen.
func (s *Sending) Asked() bool { return s.asked.Load() }

func (s *Sending) stale() bool { return call.Stale(time.Duration(s.idle.Load()), s.began.Load()) }

// watched is the context of a request that is watched.
type watched struct{ s *Sending }

type sendingKey struct{}

// Deadline implements context.Context.
func (c watched) Deadline() (time.Time, bool) { return c.s.parent.Deadline() }

// Done implements context.Context.
func (c watched) Done() <-chan struct{} { return c.s.parent.Done() }

// Err implements context.Context.
func (c watched) Err() error { return c.s.parent.Err() }

// Value implements context.Context.
func (c watched) Value(key any) any {
	if key == (sendingKey{}) {
		return c.s
	}
	return c.s.traced.Value(key)
}

// AfterFunc spares whoever derives a context from this one, as net/http does for each
// request, a goroutine where the parent has one of its own.
func (c watched) AfterFunc(f func()) (stop func() bool) { return context.AfterFunc(c.s.parent, f) }

// Send sends a request on its base once, or once more at once if its connection proves
// stale, and says so. It is a request that is watched, and net/http sends it no more often.
func Send(base http.RoundTripper, out *http.Request) (resp *http.Response, again bool, err error) {
	Forbid(out)
	resp, err = base.RoundTrip(out)
	if err == nil || out.Body != (noBody{}) || out.Context().Err() != nil {
		return resp, false, err
	}
	if s, ok := out.Context().Value(sendingKey{}).(*Sending); !ok || !s.stale() {
		return resp, false, err
	}
	resp, err = base.RoundTrip(out)
	return resp, true, err
}
