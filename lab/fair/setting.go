package fair

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spillway-dev/spillway/policy/fair"
)

// Setting is one arm. Its JSON stands in the plan of the raw records.
type Setting struct {
	Name string `json:"-"`
	Does string `json:"does"`

	Policy  string         `json:"policy"`
	Weights map[string]int `json:"weights"` // who is not listed has 1
	Ranks   []string       `json:"ranks"`   // under priority, the first first
	Reweigh *Reweigh       `json:"reweigh"`

	Slots       int     `json:"slots"`
	DeadlineS   float64 `json:"deadline_s"` // nothing starts at or after it, from a request's arrival
	HorizonS    int     `json:"horizon_s"`  // seconds of queue history
	TenantQueue int     `json:"tenant_queue"`

	// Offers arrive at t = 0 in their order, while nothing starts.
	Offers      []Offer `json:"offers"`
	RetryCopies int     `json:"retry_copies"` // of the first offer, again
	SameKey     bool    `json:"same_key"`     // the copies carry their first attempt's key
	// Crowd and Stream, if set, take the place of Offers.
	Crowd  *Crowd  `json:"crowd"`
	Stream *Stream `json:"stream"`
	// Service is the law of service times.
	Service string `json:"service"`
}

// Offer is what one tenant offers at once.
type Offer struct {
	Tenant string `json:"tenant"`
	Count  int    `json:"count"`
	Cost   int64  `json:"cost"`
}

// Reweigh are new weights at an instant.
type Reweigh struct {
	AtS     float64        `json:"at_s"`
	Weights map[string]int `json:"weights"`
}

// Crowd is many tenants who each offer the same, in turn of their names.
type Crowd struct {
	Tenants int `json:"tenants"`
	Each    int `json:"each"`
}

// Stream is arrivals over time, Poisson.
type Stream struct {
	PerS   float64 `json:"per_s"`
	Shares string  `json:"shares"` // of the tenants: A=4,B=1,C=1
	ForS   int     `json:"for_s"`
	Costs  []Offer `json:"costs"` // cost by tenant; 1 where not listed
}

// Options are the settings of an arm of one's own.
type Options struct {
	Policy      string
	Weights     map[string]int
	Burst       int
	Slots       int
	DeadlineS   float64
	RetryCopies int
	SameKey     bool
}

// Defaults are those of the table.
func Defaults() Options {
	return Options{Policy: "wrr", Weights: map[string]int{"A": 2, "B": 1, "C": 1}, Burst: 30, Slots: 3, DeadlineS: 4}
}

// Limits of the options, as the experiment names them.
const (
	burstMax, slotsMax, copiesMax = 60, 6, 2
	deadlineMin, deadlineMax      = 1, 10
	weightMax                     = 1000
)

// Validate returns what is wrong with the options, one line with the fix in
// it, or nil.
func (o *Options) Validate() error {
	if _, known := fair.ParsePolicy(o.Policy); !known {
		return fmt.Errorf("policy %q: it is one of fifo, priority, rr, wrr, drr", o.Policy)
	}
	for _, bound := range []struct {
		what               string
		value, least, most float64
	}{
		{"burst", float64(o.Burst), 0, burstMax},
		{"slots", float64(o.Slots), 1, slotsMax},
		{"deadline in seconds", o.DeadlineS, deadlineMin, deadlineMax},
		{"retry copies", float64(o.RetryCopies), 0, copiesMax},
	} {
		if !(bound.value >= bound.least && bound.value <= bound.most) {
			return fmt.Errorf("%s %v: it is from %v to %v", bound.what, bound.value, bound.least, bound.most)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Weights)) {
		if w := o.Weights[name]; !slices.Contains(tenants, name) || w < 1 || w > weightMax {
			return fmt.Errorf("weight %s=%d: the tenants are A, B and C, and weights from 1 to %d", name, w, weightMax)
		}
	}
	return nil
}

var tenants = []string{"A", "B", "C"}

// Arm returns the arm with these options; it has the name of the table's arm
// where it is one of those.
func (o Options) Arm() Setting {
	s := Setting{
		Name: "own", Does: "as the flags say",
		Policy: o.Policy, Weights: o.Weights, Ranks: []string{"B", "C", "A"},
		Slots: o.Slots, DeadlineS: o.DeadlineS, HorizonS: 10, TenantQueue: 12,
		Offers:      []Offer{{"A", o.Burst, 1}, {"B", 6, 1}, {"C", 6, 1}},
		RetryCopies: o.RetryCopies, SameKey: o.SameKey, Service: "1s",
	}
	for _, known := range Table() {
		if known.same(s) {
			return known
		}
	}
	return s
}

// same reports whether two arms are the same but for their names.
func (s Setting) same(t Setting) bool {
	return s.Policy == t.Policy && maps.Equal(s.Weights, t.Weights) && s.Slots == t.Slots && s.DeadlineS == t.DeadlineS &&
		slices.Equal(s.Offers, t.Offers) && s.RetryCopies == t.RetryCopies && s.SameKey == t.SameKey &&
		s.Reweigh == nil && t.Reweigh == nil && t.Crowd == nil && t.Stream == nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
