package limits

import (
	"fmt"
	"slices"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/limit"
)

// Setting is one arm: a law in a scenario. Its JSON stands in the plan of the raw
// records.
type Setting struct {
	Name string `json:"-"`

	Law      string  `json:"law"`
	Scenario string  `json:"scenario"`
	ForS     int     `json:"for_s"`
	Phases   []Phase `json:"phases"`
	// TimeoutMS is of every call; 0: only the deadline ends it.
	TimeoutMS int `json:"timeout_ms"`
	// Mixed: half of the work in flight is of a second route, whose calls take five
	// times as long.
	Mixed bool `json:"mixed"`

	law  limit.Law
	peer *Peer
}

// A Peer is a law of somebody else's, played beside ours: limit.Foreign.
type Peer struct {
	Name string
	// New returns its limiter, and what is shown every event of the resource, or nil.
	New func(limit.Config) (limit.Limiter, func(boundary.Event))
}

// Phase is what holds from an instant on.
type Phase struct {
	AtS      int `json:"at_s"`
	Capacity int `json:"capacity"` // servers
	// Slower is how many times as long every call takes; 0: none ends.
	Slower float64 `json:"slower"`
	// Load is what is offered, in parts of what the resource can do at the start.
	Load float64 `json:"load"`
	// Judged says that demand exceeds capacity, so that work in flight should be it.
	Judged bool `json:"judged"`
	// Step says that the limit has something to find here, and is given time.
	Step bool `json:"step"`
}

// What all scenarios have in common.
const (
	capacity  = 100
	serviceMS = 20                               // mean
	service   = "lognormal:mean=20ms,p99=60ms"   // of most calls
	slow      = "lognormal:mean=100ms,p99=300ms" // of the second route
	perS      = capacity * 1000 / serviceMS
	deadline  = time.Second
	room      = 64 // may wait
	ceiling   = 1000
)

// Options are what the flags say.
type Options struct {
	Laws      []string
	Scenarios []string
	Quick     bool // half-hours become minutes
	// Peers are played after the laws.
	Peers []Peer
}

// laws that are compared, ours first.
var laws = []limit.Law{limit.Knee, limit.AIMD, limit.Vegas, limit.Gradient2, limit.MinRTT}

// Scenarios in their order.
func scenarios(quick bool) []Setting {
	long := 1800
	if quick {
		long = 60
	}
	drift := []Phase{}
	for i := range 101 { // down to a half and back
		c := capacity - i
		if i > 50 {
			c = i
		}
		drift = append(drift, Phase{AtS: 20 + i, Capacity: c, Slower: 1, Load: 1.2, Judged: true})
	}
	return []Setting{
		{Scenario: "steps", ForS: 60, Phases: []Phase{
			{AtS: 0, Capacity: capacity, Slower: 1, Load: 1.2, Judged: true, Step: true},
			{AtS: 20, Capacity: capacity / 4, Slower: 1, Load: 1.2, Judged: true, Step: true},
			{AtS: 40, Capacity: capacity, Slower: 1, Load: 1.2, Judged: true, Step: true},
		}},
		{Scenario: "drift", ForS: 140, Phases: append([]Phase{
			{AtS: 0, Capacity: capacity, Slower: 1, Load: 1.2, Judged: true, Step: true}}, drift...)},
		{Scenario: "slow", ForS: long + 80, Phases: []Phase{
			{AtS: 0, Capacity: capacity, Slower: 1, Load: 1.2, Judged: true, Step: true},
			{AtS: 20, Capacity: capacity, Slower: 10, Load: 1.2, Judged: true, Step: true},
			{AtS: long + 20, Capacity: capacity, Slower: 1, Load: 1.2, Judged: true, Step: true},
		}},
		{Scenario: "timeouts", ForS: 80, TimeoutMS: 200, Phases: []Phase{
			{AtS: 0, Capacity: capacity, Slower: 1, Load: 1.2, Judged: true, Step: true},
			{AtS: 20, Capacity: capacity, Slower: 0, Load: 1.2},
			{AtS: 50, Capacity: capacity, Slower: 1, Load: 1.2, Judged: true, Step: true},
		}},
		{Scenario: "bursts", ForS: 60, Phases: bursts(60)},
		{Scenario: "routes", ForS: 120, Mixed: true, Phases: []Phase{
			{AtS: 0, Capacity: capacity, Slower: 1, Load: 1.2, Judged: true, Step: true},
		}},
		{Scenario: "overload", ForS: 60, Phases: []Phase{
			{AtS: 0, Capacity: capacity, Slower: 1, Load: 1.2, Judged: true, Step: true},
		}},
		{Scenario: "healthy", ForS: long, Phases: []Phase{
			{AtS: 0, Capacity: capacity, Slower: 1, Load: 0.5},
		}},
		{Scenario: "surge", ForS: 60, Phases: []Phase{
			{AtS: 0, Capacity: capacity, Slower: 1, Load: 0.5},
			{AtS: 20, Capacity: capacity, Slower: 1, Load: 1.4, Judged: true, Step: true},
		}},
	}
}

// bursts offers half of capacity, and for a second in five twice of it.
func bursts(forS int) []Phase {
	var all []Phase
	for at := 0; at < forS; at += 5 {
		all = append(all,
			Phase{AtS: at, Capacity: capacity, Slower: 1, Load: 0.5},
			Phase{AtS: at + 4, Capacity: capacity, Slower: 1, Load: 2})
	}
	return all
}

// Arms are the cells of the table.
func (o Options) Arms() ([]Setting, error) {
	var arms []Setting
	known := map[string]bool{}
	for _, s := range scenarios(o.Quick) {
		known[s.Scenario] = true
		for _, l := range o.contestants() {
			known[l.Law] = true
			if len(o.Scenarios) > 0 && !slices.Contains(o.Scenarios, s.Scenario) || len(o.Laws) > 0 && !slices.Contains(o.Laws, l.Law) {
				continue
			}
			s.law, s.Law, s.peer = l.law, l.Law, l.peer
			s.Name = s.Scenario + "-" + s.Law
			arms = append(arms, s)
		}
	}
	for _, name := range slices.Concat(o.Scenarios, o.Laws) {
		if !known[name] {
			return nil, fmt.Errorf("%q: no such law or scenario; see --help", name)
		}
	}
	return arms, nil
}

// contestants are the laws that are compared, each as a setting of nothing else.
func (o Options) contestants() []Setting {
	var all []Setting
	for _, l := range laws {
		all = append(all, Setting{Law: l.String(), law: l})
	}
	for i := range o.Peers {
		all = append(all, Setting{Law: o.Peers[i].Name, law: limit.Foreign, peer: &o.Peers[i]})
	}
	return all
}
