package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Report is what one run did. Field names and meanings are the contract of
// DESIGN.md ("Traffic report fields"); a command may embed it and add fields.
// The embedded [Group] is the total over all classes.
type Report struct {
	Mode string `json:"mode"` // virtual or live
	Seed uint64 `json:"seed"`
	// Seconds is the length of the offered load; rates are per second of it.
	Seconds Number `json:"seconds"`
	Group
	Classes Groups `json:"classes"`
	Tenants Groups `json:"tenants"`

	// ClassOrder is the order of the configuration, in which tables show the
	// classes; Rungs is the order of the ladder, best first.
	ClassOrder Strings       `json:"class_order"`
	Rungs      Strings       `json:"rungs"`
	Series     SeriesByClass `json:"series"`
	Warnings   Strings       `json:"warnings"`
	Meta
}

// Meta is what is needed to repeat a run.
type Meta struct {
	Version string `json:"version"` // of spillway
	Command string `json:"command"` // the exact line that repeats the run
	// ConfigDigest is [Digest] of the configuration file's bytes; empty where
	// there was none.
	ConfigDigest string `json:"config_digest"`
}

// Group is the account of some requests: a class, a tenant or all.
type Group struct {
	Offered int64 `json:"offered"`
	// Answered counts the answers by rung; Reasons all ended requests by the
	// reason of their answer (served included); Refused those of Reasons that
	// were answered by no rung. sum(Answered) + sum(Refused) = sum(Reasons).
	Answered Counts `json:"answered"`
	Reasons  Counts `json:"reasons"`
	Refused  Counts `json:"refused"`
	// Waiting and Running are those not ended when the report was made.
	Waiting int64 `json:"waiting"`
	Running int64 `json:"running"`
	// Shadow is of a class, and of all classes together; a tenant's is empty.
	Shadow Shadow `json:"shadow"`

	// GoodputPerS counts primary answers inside their deadline.
	GoodputPerS Number `json:"goodput_per_s"`
	// Latency of primary answers from the scheduled arrival; quantiles are the
	// nearest rank and at most 0.1 % above it, the maximum is exact.
	P50Ms  Number `json:"p50_ms"`
	P90Ms  Number `json:"p90_ms"`
	P99Ms  Number `json:"p99_ms"`
	P999Ms Number `json:"p999_ms"`
	MaxMs  Number `json:"max_ms"`
	// Latency of refusals at admission; what ended in the queue or at the call
	// is not in it.
	RefusedP50Ms Number `json:"refused_p50_ms"`
	RefusedP99Ms Number `json:"refused_p99_ms"`
	// Queue wait of requests that were started, 0 where a slot was free.
	QueueWaitP50Ms Number `json:"queue_wait_p50_ms"`
	QueueWaitP99Ms Number `json:"queue_wait_p99_ms"`
	// Utilisation is slot time held / slot time there was, 0 to 1. A tenant's
	// is its part of the slots of the classes it used.
	Utilisation Number `json:"utilisation"`
	// IdleWhileRefusingS is, of a class, how long slots of its resource were idle
	// that it might not use while it refused or let wait for want of one; of all,
	// how long they were while any class did: in slots x seconds, as in
	// boundary.ClassState. Of a tenant, and where nobody has seen it, null.
	IdleWhileRefusingS Number `json:"idle_while_refusing_s"`
	// CallsPerRequest counts calls to a dependency, retries and hedges
	// included, per request offered.
	CallsPerRequest Number `json:"calls_per_request"`
}

// NewGroup returns an account in which nothing was measured: counts are zero
// and every figure is [None].
func NewGroup() *Group {
	n := None()
	return &Group{
		Answered: Counts{}, Reasons: Counts{}, Refused: Counts{},
		GoodputPerS: n, P50Ms: n, P90Ms: n, P99Ms: n, P999Ms: n, MaxMs: n,
		RefusedP50Ms: n, RefusedP99Ms: n, QueueWaitP50Ms: n, QueueWaitP99Ms: n,
		Utilisation: n, IdleWhileRefusingS: n, CallsPerRequest: n,
	}
}

// Check returns an error that names the first account whose sums do not close,
// nil if all do. A command whose report fails it exits 3.
func (r *Report) Check() error {
	if err := r.Group.Check(); err != nil {
		return fmt.Errorf("report: total: %w", err)
	}
	for _, part := range []struct {
		kind   string
		groups Groups
	}{{"class", r.Classes}, {"tenant", r.Tenants}} {
		var offered int64
		for _, name := range part.groups.Names() {
			if err := part.groups[name].Check(); err != nil {
				return fmt.Errorf("report: %s %q: %w", part.kind, name, err)
			}
			offered += part.groups[name].Offered
		}
		if len(part.groups) > 0 && offered != r.Offered {
			return fmt.Errorf("report: offered is %d, but the sum over every %s is %d", r.Offered, part.kind, offered)
		}
	}
	return nil
}

// Check returns an error that shows both sides of the sum that does not close:
// offered = sum(reasons) + waiting + running, and, where Refused was filled in,
// sum(answered) + sum(refused) = sum(reasons).
func (g *Group) Check() error {
	if g.Waiting < 0 || g.Running < 0 {
		return fmt.Errorf("%d waiting and %d running: neither can be negative", g.Waiting, g.Running)
	}
	if n := g.Reasons["none"]; n != 0 {
		return fmt.Errorf("%d requests ended without a reason", n)
	}
	if err := g.Shadow.Check(); err != nil {
		return err
	}
	ended := g.Reasons.Sum()
	if g.Offered != ended+g.Waiting+g.Running {
		return fmt.Errorf("offered is %d, but reasons %d + waiting %d + running %d is %d",
			g.Offered, ended, g.Waiting, g.Running, ended+g.Waiting+g.Running)
	}
	if answered, refused := g.Answered.Sum(), g.Refused.Sum(); g.Refused != nil && answered+refused != ended {
		return fmt.Errorf("reasons sum to %d, but answered %d + refused %d is %d", ended, answered, refused, answered+refused)
	}
	return nil
}

// RefusedShare is the share of the offered requests that no rung answered;
// [None] where nothing was offered.
func (g *Group) RefusedShare() Number { return Share(g.Refused.Sum(), g.Offered) }

// Digest identifies a configuration: "sha256:" and the hash in hex.
func Digest(config []byte) string {
	sum := sha256.Sum256(config)
	return "sha256:" + hex.EncodeToString(sum[:])
}
