package fallback

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"github.com/spillway-dev/spillway/lab/fallback/live"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/sim/store"
)

// LiveOptions have rounds played on this machine.
type LiveOptions struct {
	// Context ends the processes of a round, and the run with its error.
	Context context.Context
	// Start makes the process of a part, see live.NewBench.
	Start func(part string) *exec.Cmd
	// Quick is four arms at 200/s, in the place of the table's.
	Quick bool
}

// Quick arms.
const (
	quickRate    = 200
	QuickSeconds = 10
)

func quickArms(o *Options) []Setting {
	var arms []Setting
	for _, a := range []struct {
		name, does string
		changes    []change
	}{
		{"wait", "waits as long as it takes", nil},
		{"limit", "a limit of 25 ms, then a stand-in", []change{standIn}},
		{"retry", "the same with up to two retries, at once", []change{standIn, retry}},
		{"hedge", "limit with a second ask after 10 ms", []change{standIn, hedged}},
	} {
		s := Base(o, "H3", a.does)
		s.Name, s.Rate = a.name, quickRate
		for _, c := range a.changes {
			c(&s)
		}
		arms = append(arms, s)
	}
	return arms
}

// refuses says why an arm is not played live, or nil. Without options nothing is.
func (l *LiveOptions) refuses(s *Setting) error {
	switch {
	case l == nil:
		return nil
	case s.Guarded:
		return fmt.Errorf("arm %s: not live: spillway in front of the store is played in virtual time alone; leave out --live", s.Name)
	case s.Copies > 1 || s.BusyEveryS > 0:
		return fmt.Errorf("arm %s: not live: copies and busy times are played in virtual time alone; leave out --live", s.Name)
	}
	return nil
}

// defaults are the arms that are played where none was named: live those at 300/s.
func (l *LiveOptions) defaults(all []Setting) []Setting {
	if l == nil {
		return all
	}
	return slices.DeleteFunc(all, func(s Setting) bool { return s.Rate > 300 || l.refuses(&s) != nil })
}

// Takes is about how long a run of these options takes live; 0 in virtual time.
func (o *Options) Takes() time.Duration {
	arms, err := choose(o)
	if err != nil || o.Live == nil {
		return 0
	}
	const around = 4 * time.Second // a round: processes, warm-up, what is still in the store, looking for quiet
	return time.Duration(len(arms)*o.Rounds) * (ms(1000*o.Seconds) + around)
}

func (o *Options) mode() string {
	if o.Live != nil {
		return "live"
	}
	return "virtual"
}

// Lived is what a live run tells besides.
type Lived struct {
	// CapacityPerS is what the service answered of a store that does not wait.
	CapacityPerS *report.Number `json:"capacity_per_s,omitempty"`
	Live         *LiveResult    `json:"live,omitempty"`

	bench *live.Bench
	first map[string]*record // of arms whose first round may be followed
}

// LiveResult is what there is to know before the times of a live run are believed.
type LiveResult struct {
	// Machine is of each arm's rounds.
	Machine map[string][]live.Facts `json:"machine"`
	Beside  []Beside                `json:"beside_virtual"`
}

// openLive measures the capacity.
func (d *Document) openLive() error {
	o := d.options.Live
	if o == nil {
		return nil
	}
	d.bench, d.first = live.NewBench(o.Start), map[string]*record{}
	d.Live = &LiveResult{Machine: map[string][]live.Facts{}, Beside: []Beside{}}
	d.NotTested = append(report.Strings{"other machines, and a network between the three: these times are this machine's"}, d.NotTested[1:]...)
	s := Base(&d.options, "F3", "")
	standIn(&s)
	r, err := s.live(d.Seed, 0)
	if err != nil {
		return err
	}
	n, err := d.bench.Capacity(o.Context, r)
	if err != nil {
		return fmt.Errorf("capacity: %w", err)
	}
	d.CapacityPerS = &n
	return nil
}

// live is the arm's round for a bench.
func (s *Setting) live(seed uint64, round int) (live.Round, error) {
	sc, err := s.scenario(seed, round)
	if err != nil {
		return live.Round{}, err
	}
	return live.Round{
		Seed: seed, Number: round, Waits: s.Waits, Slow: int(s.SlowCustomer * 1e6), Rate: sc.Rate, For: sc.For, Policy: sc.Policy,
		Deadline: sc.Deadline, Travels: sc.Travels, Senders: sc.Senders, Slots: sc.Store.Slots, Rest: sc.Rest, StandIns: s.Otherwise == "stand_in",
	}, nil
}

// playRounds plays an arm's rounds.
func (d *Document) playRounds(s *Setting, k keep, take func(round int, kept *record)) ([]Round, error) {
	if d.Live == nil {
		return s.playRounds(d.Seed, 0, d.options.Rounds, k, take)
	}
	var rounds []Round
	for i := range d.options.Rounds {
		if i == 0 && d.follows(s) {
			k = everything
		}
		r, kept, err := d.playLive(s, i, k)
		if err != nil {
			return nil, err
		}
		rounds = append(rounds, r)
		if i == 0 && d.follows(s) {
			d.first[s.Name] = &kept
		}
		take(i, &kept)
	}
	return rounds, nil
}

func (d *Document) playLive(s *Setting, round int, k keep) (Round, record, error) {
	r, err := s.live(d.Seed, round)
	if err != nil {
		return Round{}, record{}, err
	}
	return s.playWith(round, k, func(w store.Watch) (store.Sums, error) {
		sums, facts, err := d.bench.Play(d.options.Live.Context, r, w)
		if err != nil {
			return sums, wrongIsSums(err)
		}
		d.Live.Machine[s.Name] = append(d.Live.Machine[s.Name], facts)
		return sums, nil
	})
}

// follows reports whether the arm's first round may be followed.
func (d *Document) follows(s *Setting) bool {
	return slices.ContainsFunc(followedKinds, func(kind string) bool { return s.Name == "H3-"+kind || s.Name == "H4-"+kind })
}

// firstRound is all of an arm's first round: played again in virtual time, which gives the
// same, or kept.
func (d *Document) firstRound(s *Setting) (*record, error) {
	if d.Live != nil {
		return d.first[s.Name], nil
	}
	_, kept, err := s.playRound(d.Seed, 0, everything)
	return &kept, err
}
