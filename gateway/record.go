package gateway

import (
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/workload/record"
)

// A recording has one entry for each request that was offered to a gate and has
// ended: refused at once, answered, or abandoned and ended since. It costs its
// request two hashes and a copy, and never makes it wait.

// note is what the recording keeps of a request that runs, taken while its
// header is there.
type note struct {
	request record.Request // all but arrival, service and outcome
	offered unit.Instant
	granted unit.Instant
}

// startRecording prepares the recording that the configuration asks for. One that
// cannot be written is told of in the log and stops nobody. It begins when the
// gateway serves: one that cannot, its address being taken by the one that runs,
// must not push that one's recording aside, and each attempt another.
func (g *Gateway) startRecording(cfg *config.Config) error {
	if cfg.Record.File == "" {
		return nil
	}
	var classes []string
	for _, c := range cfg.Classes {
		classes = append(classes, c.Name)
	}
	var err error
	g.recorder, err = record.New(record.Options{
		Path: cfg.Record.File, MaxSize: int64(cfg.Record.MaxSize), Keep: cfg.Record.Keep, Salt: cfg.Record.Salt.Value(),
		Classes: classes, Outcomes: outcomeNames(), Known: cfg.TenantNames(),
		Begin:  g.serving,
		Config: cfg.RulesDigest(), Program: "spillway " + g.opts.Version,
		Warn: func(text string) { g.log.Warn(text, "file", cfg.Record.File) },
	})
	if err != nil {
		return err
	}
	g.seen.Recorded = func() (written, lost int64) {
		s := g.recorder.Stats()
		return s.Written, s.Dropped
	}
	return nil
}

// beginRecording is called once the gateway has its addresses.
func (g *Gateway) beginRecording() {
	close(g.serving)
	if g.recorder != nil {
		g.log.Info("recording", "file", g.config().Record.File)
	}
}

func outcomeNames() []string {
	names := make([]string, reason.Count)
	for i := range names {
		names[i] = reason.Reason(i).String()
	}
	return names
}

// stopRecording writes what is held.
func (g *Gateway) stopRecording() {
	if g.recorder == nil {
		return
	}
	err := g.recorder.Close()
	s := g.recorder.Stats()
	if err != nil {
		g.log.Warn("the end of the recording is lost", "error", err)
	}
	select {
	case <-g.serving:
		g.log.Info("recorded", "requests", s.Written, "lost", s.Dropped)
	default: // it never began
	}
}

// noted is what is recorded of a request beside times and outcome.
func (g *Gateway) noted(c *class, ask *gate.Request) record.Request {
	q := record.Request{
		Class: c.recorded, Importance: int32(ask.Importance), Cost: ask.Cost, Bytes: ask.Bytes,
		Tenant: g.recorder.Hash(ask.Tenant), Session: g.recorder.HashKey(ask.Session),
	}
	if ask.Timeout > 0 {
		q.Allowed = ask.Timeout
	}
	return q
}

// recordRefused records a request that never ran.
func (g *Gateway) recordRefused(c *class, ask *gate.Request, why reason.Reason) {
	if g.recorder == nil {
		return
	}
	q := g.noted(c, ask)
	waited := c.gate.Now().Sub(ask.At)
	q.Arrival = max(0, g.recorder.Now()-waited)
	if waited > refusedAtOnce {
		q.Wait = waited
	}
	q.Outcome = uint8(why)
	g.recorder.Add(&q)
}

// refusedAtOnce is less than anybody waits for a slot and then does not get it.
const refusedAtOnce = time.Millisecond

// note takes down what is recorded of a request that may run.
func (g *Gateway) note(c *class, ask *gate.Request, granted unit.Instant) *note {
	if g.recorder == nil {
		return nil
	}
	return &note{g.noted(c, ask), ask.At, granted}
}

// record records a request whose slot is free again.
func (x *exchange) record(why reason.Reason) {
	n := x.note
	if n == nil {
		return
	}
	rec, now := x.gateway.recorder, x.class.gate.Now()
	if x.told != reason.None {
		why = x.told
	}
	n.request.Arrival = max(0, rec.Now()-now.Sub(n.offered))
	n.request.Wait = n.granted.Sub(n.offered)
	n.request.Service = now.Sub(n.granted)
	n.request.Outcome = uint8(why)
	rec.Add(&n.request)
}
