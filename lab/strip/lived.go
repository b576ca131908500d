package strip

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/lab/strip/live"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/workload"
)

// LiveOptions have the arms played on this machine, each beside itself in virtual time.
type LiveOptions struct {
	// Context ends the processes of a round, and the run with its error.
	Context context.Context
	// Start makes the process of a part, see live.NewBench.
	Start func(part string) *exec.Cmd
	// Quick is a few arms, judged for a few seconds.
	Quick bool

	bench  *live.Bench
	heldMs float64
}

// What is played live where flags say nothing else: an eighth of the question's slots, and so
// of its keystrokes, which is what one machine can offer, pass on and answer at once; for as
// long as in virtual time or, quick, as a minute allows.
const (
	LiveSlots    = 8
	QuickSeconds = 3
	quickFromS   = 5
	gaugeS       = 3 // how long it is measured what a keystroke takes
)

// QuickPolicies are played with --quick.
var QuickPolicies = []string{"queue", "random", "gap"}

// Lived is what a live run tells besides.
type Lived struct {
	Scale string `json:"scale"` // in words
	// HeldMs is what a keystroke took by half of the gateway's answers, measured beforehand
	// with a half of what fits; in virtual time it takes that too.
	HeldMs  report.Number           `json:"held_ms"`
	Machine map[string][]live.Facts `json:"machine"`
	Beside  []Beside                `json:"beside_virtual"`
}

// liveArms are the table at all loads, and at the first load its end and a scorer that is
// slow or failing; after each live arm itself in virtual time.
func (o *Options) liveArms() []Setting {
	arms := o.table()
	if !o.Only {
		for _, s := range o.further() {
			switch s.Name {
			case "release-steps", "scorer-slow-overload", "scorer-down-overload":
				if !o.Live.Quick || s.Name == "release-steps" {
					arms = append(arms, s)
				}
			}
		}
	}
	var all []Setting
	for _, s := range arms {
		if o.Live.Quick {
			s.FromS, s.ToS = quickFromS, quickFromS+o.Seconds
		}
		s.HeldMs = o.Live.heldMs
		twin := s
		s.Live = true
		twin.Name, twin.Twin, twin.Further = s.Name+"-virtual", s.Name, true
		all = append(all, s, twin)
	}
	return all
}

// Takes is about how long a run of these options takes live; 0 in virtual time.
func (o *Options) Takes() time.Duration {
	if o.Live == nil {
		return 0
	}
	const around = 4 * time.Second // processes, what is still on the way, looking for quiet
	all := sec(gaugeS) + around
	for _, s := range o.Arms() {
		if s.Live {
			all += sec(s.ToS+s.AfterS) + around
		}
	}
	return all
}

func (o *Options) mode() string {
	if o.Live != nil {
		return "live"
	}
	return "virtual"
}

// player returns what plays an arm: in virtual time, or on this machine where that is asked
// for.
func (d *Document) player(o *Options, m *material) func(Setting) (*run, error) {
	if o.Live == nil {
		return m.played
	}
	d.NotTested = append(report.Strings{"other machines, and a network between writers, gateway and scorer: these times are this machine's"}, d.NotTested...)
	return func(s Setting) (*run, error) {
		if !s.Live {
			return m.played(s)
		}
		r, facts, err := m.playedLive(o.Live, s)
		d.Live.Machine[s.Name] = append(d.Live.Machine[s.Name], facts)
		return r, err
	}
}

// openLive measures what a keystroke takes through the gateway, before anything is planned.
func (o *Options) openLive(m *material) (*Lived, error) {
	l := o.Live
	if l == nil {
		return nil, nil
	}
	watches := 0
	if l.Quick {
		watches = 1
	}
	l.bench = live.NewBench(l.Start, watches)
	s := o.arm("random", 0.5, o.Seed)
	s.UpS, s.FromS, s.ToS = 1, 1, gaugeS
	r, _, err := m.playedLive(l, s)
	if err != nil {
		return nil, fmt.Errorf("what a keystroke takes: %w", err)
	}
	var took []unit.Instant
	for i := range r.typed {
		if a := &r.answers[i]; rungs[a.rung] == personalised && r.typed[i].at >= sec(s.FromS) {
			took = append(took, a.at-unit.Instant(r.typed[i].at))
		}
	}
	if len(took) == 0 {
		return nil, fmt.Errorf("%w: with half of what fits nobody was answered by the scorer", lab.ErrSums)
	}
	slices.Sort(took)
	half := report.Ms(int64(took[len(took)/2]))
	l.heldMs = max(float64(half), s.ServiceMs)
	return &Lived{Scale: o.scale(), HeldMs: half, Machine: map[string][]live.Facts{}, Beside: []Beside{}}, nil
}

// scale says how much less is played than the question says.
func (o *Options) scale() string {
	of := Defaults()
	each := fmt.Sprintf("%d slots of %v: %s keystrokes a second fit", o.Slots, o.Service, whole(float64(o.Slots)/o.Service.Seconds()))
	if o.Slots == of.Slots && o.Service == of.Service {
		return "As in the question, " + each + "."
	}
	return fmt.Sprintf("To scale: %s, where the question has %d slots of %v. Loads, deadlines and the law are the question's.", each, of.Slots, of.Service)
}

// playedLive plays one arm on this machine.
func (m *material) playedLive(l *LiveOptions, s Setting) (*run, live.Facts, error) {
	r := m.typedRun(s)
	names := workload.NewNames()
	round := live.Round{
		File: s.file(), Slots: s.Slots, Service: ms(s.ServiceMs), Conditions: s.Conditions,
		Until: r.until(), Strokes: make([]live.Stroke, 0, len(r.typed)),
	}
	source, listed := r.source(names), names.Classes.ID("listed")
	for a := (workload.Arrival{}); source.Next(&a); {
		round.Strokes = append(round.Strokes, live.Stroke{At: a.At, Session: a.Session, Stretch: a.Stretch, Key: a.Key, Gap: a.Gap, Listed: a.Class == listed})
	}
	outcomes, facts, err := l.bench.Play(l.Context, round)
	if errors.Is(err, live.ErrWrong) {
		err = fmt.Errorf("%w: %w", lab.ErrSums, err)
	}
	if err != nil {
		return nil, facts, err
	}
	for i := range outcomes {
		if r.answers[i], err = answered(&outcomes[i], round.Strokes[i].Listed); err != nil {
			return nil, facts, fmt.Errorf("%w: keystroke %d: %w", lab.ErrSums, i, err)
		}
	}
	return r, facts, nil
}

// answered is an outcome as virtual time would tell it.
func answered(o *live.Outcome, listed bool) (answer, error) {
	if o.End < 0 {
		return answer{}, nil
	}
	why, err := reason.Parse(o.Reason)
	if err != nil {
		why = reason.Failed // it was not sent, or its connection broke
	}
	a := answer{at: unit.Instant(o.End), reason: why}
	switch {
	case listed && o.Rung == "primary":
		a.rung = rungOf(frequencyList)
	case o.Rung == "primary":
		a.rung = rungOf(personalised)
	case o.Rung == "cache":
		a.rung = rungOf(sessionCache)
	case o.Rung == "static":
		a.rung = rungOf(frequencyList)
	case o.Rung == "":
		a.rung = rungOf(refused)
	default:
		return a, fmt.Errorf("rung %q, which no arm has", o.Rung)
	}
	return a, nil
}
