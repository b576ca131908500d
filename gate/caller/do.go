package caller

import (
	"context"
	"io"
)

// Do runs f under the whole policy and returns its answer: f's value and nil, or f's
// own error where that is the answer (see Neutral), or a *Failure.
//
// The package comment says where f runs. Its context, and whatever of its value
// depends on it, ends when Do returns; see Hold for an answer that outlives it.
func Do[T any](ctx context.Context, c *Caller, r Request, f func(context.Context, Attempt) (T, error)) (T, error) {
	v, held, err := do(ctx, c, &r, f, nil)
	held.Release()
	return v, err
}

// Hold is Do for an answer that is still to be read. The winner's context lives until
// Release, which has to be called once the answer is no longer used; the limit has been
// met by then and no longer ends it, the caller's own context does. What other attempts
// returned is handed to discard, on any goroutine, with the context to be released: it
// has ended already if the attempt was cut off, and has not if it failed by itself.
// Without discard an io.Closer is closed.
//
// The value of an attempt that failed is returned beside the *Failure if the call ended
// with it: an answer such as a 503, which is better than none.
func Hold[T any](ctx context.Context, c *Caller, r Request, f func(context.Context, Attempt) (T, error), discard func(T, Held)) (T, Held, error) {
	v, held, err := do(ctx, c, &r, f, discard)
	if held.ctx != nil {
		held.ctx.lift()
	}
	return v, held, err
}

// Held is the life of an attempt's context. The zero Held is nobody's.
type Held struct{ ctx *attemptContext }

// Release ends it. It may be called more than once.
func (h Held) Release() {
	if h.ctx != nil {
		h.ctx.end(context.Canceled)
	}
}

func do[T any](ctx context.Context, c *Caller, r *Request, f func(context.Context, Attempt) (T, error), discard func(T, Held)) (T, Held, error) {
	if c.hedges.Load() && r.twice() {
		return race(ctx, c, r, f, discard)
	}
	return direct(ctx, c, r, f, discard)
}

// throwAway disposes of what an attempt returned that is not the answer, and of its
// context.
func throwAway[T any](v T, err error, held Held, discard func(T, Held)) {
	if discard != nil {
		discard(v, held)
		return
	}
	if c, ok := any(v).(io.Closer); ok && err == nil {
		c.Close() // it is nobody's: there is nobody to tell
	}
	held.Release()
}
