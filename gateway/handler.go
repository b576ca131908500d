package gateway

import (
	"net/http"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/gate/deadline"
	"github.com/spillway-dev/spillway/gateway/jobs"
	"github.com/spillway-dev/spillway/gateway/wire"
	"github.com/spillway-dev/spillway/policy/reason"
)

// ServeHTTP takes a request the whole way. It implements http.Handler.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.flights.Add(1)
	defer g.flights.Done()

	r, ok := resolve(r)
	if !ok || r.Method == http.MethodConnect {
		g.unroutable(w, r, http.StatusBadRequest)
		return
	}
	if g.preflight(w, r) {
		return
	}
	if g.jobs != nil && g.ofJobs(w, r) {
		return
	}
	who := g.meet(r)
	c := g.classify(r, who)
	if c == nil {
		g.unroutable(w, r, http.StatusNotFound)
		return
	}
	if c.keys && g.once(w, r, c, who) {
		return
	}
	g.admit(w, r, c, who)
}

// admit offers the request to its class's gate and serves it if it may run.
// Nothing is set up for a request that is refused at once.
func (g *Gateway) admit(w http.ResponseWriter, r *http.Request, c *class, who *caller) {
	named := deadline.Read(r.Header)
	if named.Malformed > 0 {
		g.seen.MalformedDeadlines.Add(int64(named.Malformed))
	}
	due := new(overdue)
	ask := c.ask(r, named.Left)
	ask.ID = identify(r)
	who.lower(c, r, &ask, c.cfg.Deadline.D())
	keeps, _ := w.(*jobs.Writer)
	if keeps != nil {
		keeps.Claim(&ask)
		if keeps.Alone() {
			c = c.alone()
		}
	}
	var priced *priced
	if c.upstream.provided != nil {
		priced, r = c.price(r, &ask)
		defer priced.release()
	}
	partition, bucket := "", ""
	if c.weighs {
		ask.Gap, bucket = c.weigh(r, &ask)
	}
	if c.ladder != nil {
		partition = partitionOf(&ask, who)
	}
	var body *kept
	if c.ladder != nil && c.ladder.elsewhere {
		body = keepBody(r)
	}
	ask.OnOverdue = due.tell
	ask.At = c.gate.Now()
	ctx := r.Context()
	var hangup *hangup
	if unread(r) {
		if conn := connOf(r); conn != nil {
			hangup = newHangup(ctx, g.hangups, conn)
			defer hangup.stop()
			ctx = hangup
		}
	}
	permit, refused := c.gate.Enter(ctx, ask)
	if refused.Reason != reason.None {
		refused = priced.until(refused)
		if refused.Reason == reason.Draining && g.moved(w, r, c, who) {
			return
		}
		g.recordRefused(c, &ask, refused.Reason)
		if refused.Reason == reason.CallerGone {
			panic(http.ErrAbortHandler)
		}
		if c.persists && g.persist(w, r, c, who, &ask, refused) {
			return
		}
		if refused.Reason == reason.Unauthorized {
			g.unauthorized(w, r, refused, who)
			return
		}
		if c.ladder != nil {
			d := &descent{class: c, request: ask, due: c.due(&ask), named: named.Left != 0, secure: who.secure(r), partition: partition, body: body}
			if hangup != nil && body != nil {
				r = r.WithContext(hangup.context())
			}
			if g.refuseBelow(w, r, d, refused) {
				return
			}
		}
		g.refuse(w, r, c, refused)
		return
	}
	granted := permit.Granted()
	c.seen.Wait.Observe(granted.Sub(ask.At))
	if keeps != nil && !beginKept(keeps, permit) {
		return
	}
	if !permit.Governed() {
		c = g.letThrough(w, r, c, permit)
	}
	x := &exchange{
		gateway: g, class: c, w: w, in: r,
		permit: permit, overdue: due,
		offered: ask.At, granted: granted, named: named.Left != 0,
		mine: true, outcome: reason.Failed, note: g.note(c, &ask, granted),
		secure: who.secure(r), partition: partition, bucket: bucket, gap: ask.Gap,
		priced: priced,
	}
	if unread(r) {
		// An HTTP/1 server would else read a body to its end before it lets an
		// answer out.
		http.NewResponseController(w).EnableFullDuplex()
		if hangup != nil {
			x.in = r.WithContext(hangup.context())
		}
	}
	x.serve()
	if d := x.after; d != nil {
		d.class, d.request, d.named, d.secure, d.partition, d.body = c, ask, x.named, x.secure, partition, body
		g.descend(w, x.in, d)
	}
}

// unread reports whether an HTTP/1 request has a body, which nobody has read
// yet. HTTP/2 needs none of what is done about it.
func unread(r *http.Request) bool {
	if r.ProtoMajor != 1 || r.ContentLength == 0 {
		return false
	}
	_, held := wire.HeldBody(r)
	return !held
}

func isGRPC(r *http.Request) bool {
	return r.ProtoMajor >= 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc")
}

// pastDeadline makes whatever blocks on a connection return.
var pastDeadline = time.Unix(1, 0)
