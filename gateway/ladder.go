package gateway

import (
	"net/http"
	"net/textproto"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/config/assemble"
	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gateway/rungs"
	"github.com/spillway-dev/spillway/gateway/wire"
	"github.com/spillway-dev/spillway/observe"
	"github.com/spillway-dev/spillway/observe/quality"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/shed"
)

// ladder is a class's cheaper answers: what a request is told that is not served by
// the primary, instead of a refusal. A class without any has none, and nothing is
// done for it that would not be done anyway.
type ladder struct {
	*rungs.Ladder
	cache     *rungs.Cache     // its rung of earlier answers; nil: it has none
	earlier   config.CacheRung // as that is configured
	kept      *keptFile        // where that is kept over a restart; nil: nowhere
	quality   []*quality.Rung  // the primary's first
	seen      []*observe.Rung  // by rung
	asks      []*class         // by rung: as which pool another upstream is asked; nil: it is in memory
	elsewhere bool             // any of them is one
}

// newLadder makes a class's cheaper answers, or nil if it has none. What before has
// kept goes on where it is configured as it was.
func newLadder(cfg *config.Config, c *config.Class, before *class, asks []*class) (*ladder, error) {
	if len(c.Ladder) == 0 {
		return nil, nil
	}
	b := &ladder{asks: asks}
	var list []rungs.Rung
	for _, r := range c.Ladder {
		var next rungs.Rung
		switch {
		case r.Cache.TTL != 0:
			b.earlier = r.Cache
			if next.Cache = before.earlierAnswers(b.earlier); next.Cache == nil {
				next.Cache = rungs.NewCache(cacheOf(b.earlier), b.earlier.File != "")
			} else {
				b.kept = before.ladder.kept
			}
			b.cache = next.Cache
		case r.Upstream != "":
			b.elsewhere = true
		default:
			next.Static = &rungs.Static{Status: r.Static.Status, Type: rungs.TypeOf(r.Static.File), Body: []byte(r.Static.Body)}
		}
		list = append(list, next)
	}
	order, err := assemble.Ladder(cfg, *c)
	if err != nil {
		return nil, err
	}
	b.Ladder, err = rungs.New(order, list...)
	return b, err
}

func cacheOf(c config.CacheRung) rungs.CacheConfig {
	k := rungs.CacheConfig{
		TTL: c.TTL.D(), StaleFor: c.StaleFor.D(), Override: c.Override.On(),
		MaxBody: int64(c.MaxBytes), Memory: int64(c.Memory),
	}
	for _, name := range c.Ignore {
		k.Ignore = append(k.Ignore, textproto.CanonicalMIMEHeaderKey(name))
	}
	return k
}

// partitionOf separates the callers whose answers are never another's: by tenant, and
// by who they proved to be.
func partitionOf(q *gate.Request, who *caller) string {
	if who == nil || !who.identity.Verified() {
		return q.Tenant
	}
	return q.Tenant + "\x00" + who.identity.Name
}

func (l *ladder) ask(r *http.Request, partition string, secure bool) *rungs.Ask {
	return &rungs.Ask{Request: r, Partition: partition, Secure: secure}
}

// give writes a stand-in. Who may read an earlier answer is what that says itself.
func (g *Gateway) give(w http.ResponseWriter, r *http.Request, c *class, s *rungs.Standin, rung, upstream int, gap shed.Gap) {
	c.ladder.seen[rung].Answered(s.Reason)
	g.answeredBy(r, c, rung, gap, s.Reason)
	write := func() { s.Write(w, r, upstream) }
	if s.Fixed() {
		g.decline(w, r, write)
		return
	}
	g.expose(w.Header(), r)
	g.deliver(w, r, write)
}

func (x *exchange) asked() *rungs.Ask { return x.class.ladder.ask(x.in, x.partition, x.secure) }

// replacedError carries a stand-in past the proxy, in place of an error that the
// upstream answered with.
type replacedError struct {
	rungs.Standin
	way       rungs.Way
	elsewhere bool // another upstream is to be asked for it
	status    int
}

func (e *replacedError) Error() string { return "the upstream's error is replaced" }

// look takes in an answer of the upstream before it is passed on. If it is an error
// for which a rung has something better, that is returned; else what it says of what
// is kept is noted, and it may be kept itself.
func (x *exchange) look(status int, h http.Header, length int64) error {
	switch replaces := rungs.Replaces(status); {
	case x.step != nil && replaces:
		return missedError{}
	case x.step != nil:
		return nil
	case replaces:
		if s, way, found := x.seek(reason.Failed); found != rungs.Nothing {
			return &replacedError{s, way, found == rungs.Elsewhere, status}
		}
	}
	a := x.asked()
	x.sample = x.sampled(a, status, h, length) // before the answer is kept, or it would be compared with itself
	began := time.Now().Add(-x.class.gate.Now().Sub(x.granted))
	x.keep = x.class.ladder.Learn(a, status, h, length, began)
	return nil
}

// copyOf takes down a piece of an answer that passes, where somebody wants it.
func (x *exchange) copyOf(p []byte) {
	x.keep.Write(p)
	x.sample.write(p)
}

// copied notes that it has come to its end.
func (x *exchange) copied() {
	x.keep.Done()
	x.sample.done()
}

// replace answers with a stand-in instead of the upstream's error. The slot is free
// first: the upstream has said what it had to say.
func (x *exchange) replace(e *replacedError) {
	refused := gate.Refusal{Reason: reason.Failed, Class: x.class.name}
	if e.elsewhere {
		x.goOn(e.way, refused, e.status)
	}
	x.discardRest()
	if e.elsewhere {
		return
	}
	x.gateway.account(x.in, x.class, refused)
	x.gateway.give(x.w, x.in, x.class, &e.Standin, e.way.Step.Rung, e.status, x.gap)
}

// discardRest ends the exchange of an answer that is an error, whose rest nobody wants.
func (x *exchange) discardRest() {
	x.outcome = reason.Failed
	if x.cancel != nil {
		x.cancel(nil)
	}
	x.hold.rest()
	x.ended = true // it has failed
	x.complete()
}

// restFor is how long the rest of an error is waited for, to use its connection again:
// an upstream that is failing has no need of more of them.
const restFor = 2 * time.Millisecond

// rest reads what is left of an answer that nobody wants, if it is there, and gives
// the connection up.
func (h *hold) rest() {
	if c := h.conn; c != nil && c.Ready() {
		c.SetReadDeadline(time.Now().Add(restFor))
		if discardAll(c) {
			c.SetReadDeadline(time.Time{})
		}
	}
	h.Close()
}

// headerOf is the header of a plain call's answer, without what is between
// neighbours. It shares its text.
func (x *exchange) headerOf(a wire.Answer) http.Header {
	h := make(http.Header, len(a.Fields))
	var connection []string
	for _, f := range a.Fields {
		if f.Is("Connection") {
			connection = append(connection, f.Value)
		}
	}
	for _, f := range a.Fields {
		if !wire.HopByHop(f.Name) && (connection == nil || !wire.Named(connection, f.Name)) {
			name := textproto.CanonicalMIMEHeaderKey(f.Name)
			h[name] = append(h[name], f.Value)
		}
	}
	return h
}
