package gateway

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"

	"github.com/spillway-dev/spillway/gate/resend"
)

// sending is what is noted of a request on its way to the upstream.
type sending struct{ resend.Sending }

// trace returns a context that ends with ctx, for the request, with the proxy's own trace.
// Of a call of several attempts each is watched by itself.
func (s *sending) trace(ctx context.Context, out *http.Request, several bool) context.Context {
	if proxy := httptrace.ContextClientTrace(out.Context()); proxy != nil {
		s.Informed = proxy.Got1xxResponse
	}
	if several {
		return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got1xxResponse: s.Informed})
	}
	return s.Watch(ctx)
}

// call sends the exchange's request and returns the answer. As long as no
// connection can be made, other copies are tried.
func (u *upstream) call(x *exchange) answer {
	if x.priced != nil {
		return x.priced.send(x, func() answer { return u.callOnce(x) })
	}
	return u.callOnce(x)
}

func (u *upstream) callOnce(x *exchange) answer {
	if x.class.calls != nil {
		return x.byPolicy()
	}
	for {
		a := u.send(x)
		if a.err == nil {
			return a
		}
		if !x.another(a.err) {
			a.err = x.copy.Load().Explain(a.err)
			return a
		}
		at := *x.in.URL
		x.out.URL = &at
		direct(&httputil.ProxyRequest{In: x.in, Out: x.out}, x.copy.Load().Base())
	}
}

// send sends it to the copy that the exchange has.
func (u *upstream) send(x *exchange) answer {
	res, again, err := resend.Send(x.copy.Load().Transport(isGRPC(x.out)), x.out)
	if again {
		x.gateway.resent()
	}
	return answer{res, err}
}
