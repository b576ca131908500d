package strip

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Setting is one arm. Its JSON stands in the plan of the raw records.
type Setting struct {
	Name string `json:"-"`

	Policy string  `json:"policy"`
	Does   string  `json:"does"`
	Load   float64 `json:"load_factor"` // of what the scorer can do
	Seed   uint64  `json:"seed"`

	Slots      int     `json:"slots"`
	ServiceMs  float64 `json:"service_ms"`
	DeadlineMs float64 `json:"deadline_ms"`
	// The load is half of what the scorer can do until UpS, then Load; what is typed
	// from FromS to ToS is judged. At ToS the load ends or, with AfterS, falls to half
	// for so long.
	UpS    float64 `json:"up_s"`
	FromS  float64 `json:"from_s"`
	ToS    float64 `json:"to_s"`
	AfterS float64 `json:"after_s"`
	DipS   float64 `json:"dip_s"` // a dip to half in the midst of what is judged

	Depth      int    `json:"depth"`      // of the waiting room; 0: as the budget says
	AtOnce     bool   `json:"at_once"`    // what was shed comes back at once
	Conditions string `json:"conditions"` // of the scorer
	Second     int    `json:"second"`     // slots of a second model of half the time; 0: there is none
	Further    bool   `json:"further"`    // an arm beside the table of policies
	Live       bool   `json:"live"`       // played on this machine
	Twin       string `json:"twin"`       // the live arm that this is in virtual time
	// HeldMs is how long a keystroke really takes, where that is known: live, with sockets,
	// timers and scheduler, more than the scorer's time. 0: as long as that.
	HeldMs float64 `json:"held_ms"`
}

// The policies, in the order of the table.
var policies = []Setting{
	{Policy: "queue", Does: "nobody is shed: whoever comes waits"},
	{Policy: "deadline", Does: "whoever is not served by the deadline takes the list then"},
	{Policy: "random", Does: "what does not fit takes the list at once, any keystroke alike"},
	{Policy: "session", Does: "what does not fit takes the list at once, by a slice of the writers"},
	{Policy: "prefix", Does: "from four letters on first, then a slice of the writers, just as many as needed"},
	{Policy: "seed_rule", Does: "under overload whoever has typed four letters or is in a slice of a third (or what does not fit), however many that is"},
	{Policy: "gap", Does: "the lowest measured gap first, writers in the marginal bucket by a slice, a typed-again keystroke before all"},
}

// Options are what the flags say.
type Options struct {
	Policies []string
	Loads    []float64
	Seeds    int
	Seed     uint64
	Slots    int
	Service  time.Duration
	Deadline time.Duration
	Seconds  float64 // that are judged
	Text     string  // folder; empty: the bundled text
	// Only leaves out the arms beside the table of policies.
	Only bool
	// Live has the arms played on this machine; nil: in virtual time.
	Live *LiveOptions
}

// Defaults are those of the question.
func Defaults() Options {
	o := Options{Loads: []float64{1.5, 2, 5}, Seeds: 1, Seed: 1, Slots: 64, Service: 8 * time.Millisecond, Deadline: 50 * time.Millisecond, Seconds: 10}
	for _, p := range policies {
		o.Policies = append(o.Policies, p.Policy)
	}
	return o
}

// capacity is how many keystrokes a second the scorer serves.
func (s *Setting) capacity() float64 { return float64(s.Slots) / s.ServiceMs * 1000 }

// held is how long a keystroke holds a slot, in ms.
func (s *Setting) held() float64 {
	if s.HeldMs > 0 {
		return s.HeldMs
	}
	return s.ServiceMs
}

func ms(of float64) time.Duration { return time.Duration(of * float64(time.Millisecond)) }
func sec(of float64) time.Duration {
	return time.Duration(of * float64(time.Second))
}

// Bounds of the options.
const (
	seedsMax   = 1000
	slotsMax   = 1024
	loadMax    = 20
	perSMost   = 200_000
	secondsMax = 600
)

// Validate returns what is wrong with the options, one line with the fix in it.
func (o *Options) Validate() error {
	switch {
	case o.Seeds < 1 || o.Seeds > seedsMax:
		return fmt.Errorf("%d seeds: it is from 1 to %d", o.Seeds, seedsMax)
	case o.Slots < 1 || o.Slots > slotsMax:
		return fmt.Errorf("%d slots: it is from 1 to %d", o.Slots, slotsMax)
	case o.Service < 100*time.Microsecond || o.Service > time.Second:
		return fmt.Errorf("a service time of %v: it is from 100us to 1s", o.Service)
	case o.Deadline <= o.Service || o.Deadline > 10*time.Second:
		return fmt.Errorf("a deadline of %v: it is more than the service time, %v, and at most 10s", o.Deadline, o.Service)
	case o.Seconds < 1 || o.Seconds > secondsMax:
		return fmt.Errorf("%v seconds: it is from 1 to %d", o.Seconds, secondsMax)
	case len(o.Loads) == 0 || len(o.Policies) == 0:
		return errors.New("no loads or no policies; name some, as in 1.5,2 and queue,gap")
	}
	most := float64(o.Slots) / o.Service.Seconds()
	for _, l := range o.Loads {
		if !(l >= 0.1 && l <= loadMax) || l*most > perSMost {
			return fmt.Errorf("a load of %v: it is from 0.1 to %d times what the scorer can do, and at most %d keystrokes a second", l, loadMax, perSMost)
		}
	}
	for i, p := range o.Policies {
		if find(p) == nil {
			return fmt.Errorf("policy %q: it is one of %s", p, strings.Join(Defaults().Policies, ", "))
		}
		if slices.Contains(o.Policies[:i], p) {
			return fmt.Errorf("policy %s is there twice", p)
		}
	}
	return nil
}

func find(policy string) *Setting {
	for i := range policies {
		if policies[i].Policy == policy {
			return &policies[i]
		}
	}
	return nil
}

// Arms are the table, policy by policy, load by load, seed by seed, and then the
// further ones.
func (o *Options) Arms() []Setting {
	if o.Live != nil {
		return o.liveArms()
	}
	if o.Only {
		return o.table()
	}
	return append(o.table(), o.further()...)
}

func (o *Options) table() []Setting {
	var arms []Setting
	for _, name := range o.Policies {
		for _, load := range o.Loads {
			for seed := range o.Seeds {
				s := o.arm(name, load, o.Seed+uint64(seed))
				s.Name = fmt.Sprintf("%s-%s-s%d", strings.ReplaceAll(name, "_", "-"), dashed(load), s.Seed)
				arms = append(arms, s)
			}
		}
	}
	return arms
}

func (o *Options) arm(policy string, load float64, seed uint64) Setting {
	s := *find(policy)
	s.Load, s.Seed = load, seed
	s.Slots, s.ServiceMs, s.DeadlineMs = o.Slots, o.Service.Seconds()*1000, o.Deadline.Seconds()*1000
	s.UpS, s.FromS = 2, 12
	s.ToS = s.FromS + o.Seconds
	return s
}

// further are the arms beside the table. They are all of the first load, or below it.
func (o *Options) further() []Setting {
	var arms []Setting
	add := func(name, does, policy string, load float64, change func(*Setting)) {
		s := o.arm(policy, load, o.Seed)
		s.Name, s.Does, s.Further = name, does, true
		change(&s)
		arms = append(arms, s)
	}
	load := o.Loads[0]
	for _, depth := range []int{100, 1000, 10_000} {
		add(fmt.Sprintf("queue-%d", depth), fmt.Sprintf("a waiting room for %d; who finds it full takes the list", depth), "queue", load,
			func(s *Setting) { s.Depth = depth })
	}
	while := func(what string, s *Setting) string {
		return fmt.Sprintf("%s@%gs+%gs", what, s.FromS+o.Seconds/4, o.Seconds/2)
	}
	add("scorer-slow", "the load fits; for half of the time the scorer takes twice as long", "gap", 0.9, func(s *Setting) { s.Conditions = while("x2", s) })
	add("scorer-down", "the load fits; for half of the time every call of the scorer fails", "gap", 0.9, func(s *Setting) { s.Conditions = while("outage", s) })
	add("scorer-slow-overload", "the same slow scorer under too much load", "gap", load, func(s *Setting) { s.Conditions = while("x2", s) })
	add("scorer-down-overload", "the same failing scorer under too much load", "gap", load, func(s *Setting) { s.Conditions = while("outage", s) })
	add("second-model", "below the scorer a model of everybody, in a quarter of the slots and half of the time, then the list", "gap", load, func(s *Setting) { s.Second = max(s.Slots/4, 1) })
	for _, way := range []struct {
		name, does string
		atOnce     bool
	}{{"steps", "what was shed comes back in steps of 10 % a second", false}, {"at-once", "what was shed comes back at once", true}} {
		add("release-"+way.name, "the load ends; "+way.does, "gap", load, func(s *Setting) { s.AtOnce, s.AfterS = way.atOnce, 20 })
		add("dip-"+way.name, "the load dips to half for a second; "+way.does, "gap", load, func(s *Setting) { s.AtOnce, s.DipS = way.atOnce, 1 })
	}
	for _, slots := range o.slotsTried() {
		add(fmt.Sprintf("slots-%d", slots), fmt.Sprintf("the same load with %d slots", slots), "gap", load*float64(o.Slots)/float64(slots), func(s *Setting) { s.Slots = slots })
	}
	return arms
}

// slotsTried are from half of the slots to those that would serve all.
func (o *Options) slotsTried() (slots []int) {
	all := o.slotsForAll()
	for _, n := range []int{o.Slots / 2, 3 * o.Slots / 4, 5 * o.Slots / 4, all, all + all/8} {
		if n > 0 && n != o.Slots && !slices.Contains(slots, n) {
			slots = append(slots, n)
		}
	}
	return slots
}

// slotsForAll is how many slots would serve everything of the first load.
func (o *Options) slotsForAll() int {
	return int(o.Loads[0]*float64(o.Slots) + 0.999999)
}

// dashed is a number in the name of an arm.
func dashed(x float64) string {
	return strings.ReplaceAll(strconv.FormatFloat(x, 'f', -1, 64), ".", "-") + "x"
}
