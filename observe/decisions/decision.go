package decisions

import (
	"math"
	"time"

	"github.com/spillway-dev/spillway/observe"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/shed"
)

// Decision is one decision as it is shown: over the admin listener, as JSON, and
// by the command. Times are in milliseconds.
type Decision struct {
	ID       string    `json:"id"`
	Time     time.Time `json:"time"`
	Resource string    `json:"upstream"`
	Class    string    `json:"class"`
	Tenant   string    `json:"tenant"`
	Reason   string    `json:"reason"`
	// Stage is where on its way the request was: offer, room, running.
	Stage string `json:"stage"`
	// Room is why the room had no place, where that was the cause.
	Room       string `json:"room_reason,omitempty"`
	Shadow     bool   `json:"shadow"` // it was not carried out
	Importance int    `json:"importance"`
	Retry      bool   `json:"retry"`
	Bytes      int64  `json:"bytes"`

	State   State   `json:"state"`
	Timing  Timing  `json:"timing"`
	Instead Instead `json:"instead"`
}

// State is what the request met.
type State struct {
	SlotsUsed     int    `json:"slots_used"`
	Slots         int    `json:"slots"`
	SlotsMost     int    `json:"slots_most"` // with all that may be borrowed
	AllUsed       int    `json:"upstream_slots_used"`
	AllSlots      int    `json:"upstream_slots"`
	Waiting       int    `json:"waiting"`
	Blocked       int    `json:"blocked"`
	Bound         int    `json:"bound"`
	BoundFrom     string `json:"bound_from"`
	RoomBytes     int64  `json:"room_bytes"`
	RoomBytesMax  int64  `json:"room_bytes_max"` // 0: no limit
	TenantWaiting int    `json:"tenant_waiting"`
	TenantMost    int    `json:"tenant_most"` // 0: only the room bounds it
	TenantWeight  int64  `json:"tenant_weight"`

	// Limit is how the upstream's slots were found; an empty law where no limit was met.
	Limit observe.Limit `json:"limit"`

	// Shed is what a class that sheds went by, for a request that was.
	Shed *Shed `json:"shed,omitempty"`
}

// Shed is what was known of a request that was shed, and of its class.
type Shed struct {
	Gap             float64 `json:"gap"`
	Kept            bool    `json:"kept"` // an answer to the same is there from before
	Share           float64 `json:"share"`
	DemandPerS      float64 `json:"demand_per_s"`
	SustainablePerS float64 `json:"sustainable_per_s"`
}

// Timing is what time had to do with it.
type Timing struct {
	LeftMS        float64 `json:"left_ms"` // until its deadline
	DeadlineMaxMS float64 `json:"deadline_max_ms"`
	PredictedMS   float64 `json:"predicted_wait_ms"`
	NeededMS      float64 `json:"needed_ms"` // what serving takes; 0: not known yet
	WaitedMS      float64 `json:"waited_ms"`
	HeldMS        float64 `json:"held_ms"`
	RetryAfterMS  float64 `json:"retry_after_ms"`
}

// Instead is what would have let the request through, each figure alone; see
// boundary.Instead. What is 0 is left out.
type Instead struct {
	Slots       int     `json:"slots,omitempty"`
	Min         int     `json:"slots_min,omitempty"` // where the limit is found by measurement
	Bound       int     `json:"bound,omitempty"`
	MemoryLimit int64   `json:"memory_limit_bytes,omitempty"`
	TenantQueue int     `json:"tenant_queue,omitempty"`
	Weight      int64   `json:"tenant_weight,omitempty"`
	DeadlineMS  float64 `json:"deadline_ms,omitempty"`
	FirstTry    bool    `json:"first_try,omitempty"`
	Gap         float64 `json:"gap,omitempty"` // of the request
}

// millis returns d in milliseconds, to the microsecond, rounded up: a deadline
// that would have done is not told short.
func millis(d time.Duration) float64 {
	us := d / time.Microsecond
	if d%time.Microsecond > 0 {
		us++
	}
	return float64(us) / 1e3
}

// shedOf is what a shed request met; nil for any other.
func shedOf(x *boundary.Case) *Shed {
	if x.Reason != reason.ShedForLoad {
		return nil
	}
	return &Shed{partOf(x.Gap), x.Kept, float64(x.Shed.Share) / 1e6, math.Round(x.Shed.DemandPerS), math.Round(x.Shed.SustainablePerS)}
}

func partOf(g shed.Gap) float64 { return float64(g) / float64(shed.Useless) }

// limitOf is the limit that a request met, if it met one.
func limitOf(x *boundary.Case) (l observe.Limit) {
	if x.Most > 0 {
		l = observe.LimitOf(&x.Limit)
	}
	return l
}

func (e *entry) show() Decision {
	x, in := &e.decision, &e.decision.Instead
	d := Decision{
		ID: string(e.id[:e.idLen]), Time: time.Unix(0, e.at).UTC(), Resource: e.kind.resource, Class: e.kind.class,
		Tenant: string(e.tenant[:e.nameLen]), Reason: x.Reason.String(), Stage: x.Stage.String(), Shadow: x.Shadow,
		Importance: x.Importance, Retry: x.Retry, Bytes: x.Bytes,
		State: State{
			x.Used, x.Slots, x.Most, x.AllUsed, x.AllSlots, x.Waiting, x.Blocked, x.Bound, x.BoundFrom.String(),
			x.RoomBytes, x.RoomBytesMax, x.TenantWaiting, x.TenantMost, x.TenantWeight, limitOf(x), shedOf(x),
		},
		Timing: Timing{
			millis(x.Left), millis(x.DeadlineMax), millis(x.Predicted), millis(x.Needed),
			millis(x.Waited), millis(x.Held), millis(x.RetryAfter),
		},
		Instead: Instead{in.Slots, in.Floor, in.Bound, in.MemoryLimit, in.TenantQueue, in.Weight, millis(in.Deadline), in.FirstTry, partOf(in.Gap)},
	}
	if x.Room != 0 {
		d.Room = x.Room.String()
	}
	return d
}
