package live

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/spillway-dev/spillway/lab/parts"
	"github.com/spillway-dev/spillway/report"
)

// ErrWrong is in an error that says that what the parts tell of a round does not fit
// together, or that an answer was not right.
var ErrWrong = errors.New("live: not as it must be")

// Facts are of the machine in one round, and of what took part.
type Facts struct {
	parts.Machine
	// LagP99Ms is by how much the tester sent late.
	LagP99Ms report.Number `json:"lag_p99_ms"`
	Unsent   int64         `json:"unsent"` // for want of connections
	Checked  int           `json:"answers_checked"`
	// Served is how many keystrokes the scorer worked on to the end, MostHeld how many
	// slots it held at once.
	Served   int64 `json:"scorer_served"`
	MostHeld int   `json:"scorer_most_held"`
}

// Bench plays rounds, one at a time.
type Bench struct{ bench *parts.Bench }

// NewBench returns a bench whose parts are started by running what start makes: a
// process that calls [Part] with that name, its standard input and its standard output.
// watches, if not 0, is how often at most it waits for two idle seconds before a round.
func NewBench(start func(part string) *exec.Cmd, watches int) *Bench {
	b := parts.NewBench(start)
	b.Watches = watches
	return &Bench{b}
}

// Indices of the parts in a plan.
const (
	theScorer = iota
	theGateway
	theTester
)

// Play plays a round and returns what became of its keystrokes, in their order. When ctx ends
// the processes are ended and its error is returned.
func (b *Bench) Play(ctx context.Context, r Round) ([]Outcome, Facts, error) {
	if err := r.Validate(); err != nil {
		return nil, Facts{}, err
	}
	f := Facts{Machine: b.bench.Settle(ctx)}
	plan := parts.Plan[spec]{Parts: []string{Scorer, Gateway, Tester}, Spec: r.spec}
	var tester tested
	var scorer scored
	err := parts.Run(ctx, b.bench, plan, &f.Machine, func(t *parts.Team) error {
		if err := t.Result(theTester, &tester); err != nil {
			return err
		}
		return t.Rest(ctx, func() error {
			var nothing any
			if err := t.Result(theGateway, &nothing); err != nil {
				return err
			}
			return t.Result(theScorer, &scorer)
		})
	})
	if err != nil {
		return nil, f, err
	}
	f.LagP99Ms, f.Unsent, f.Checked = report.Number(tester.Lag.Lag.P99), tester.Lag.Unsent, tester.Checked
	f.Served, f.MostHeld = scorer.Served, scorer.MostHeld
	return tester.Outcomes, f, r.fit(&tester, &scorer)
}

// fit says what of the parts' tales does not fit together.
func (r *Round) fit(t *tested, s *scored) error {
	scoredAnswers := int64(0)
	for i := range t.Outcomes {
		if t.Outcomes[i].Rung == rungPrimary && !r.Strokes[i].Listed {
			scoredAnswers++
		}
	}
	switch {
	case t.Wrong > 0:
		return fmt.Errorf("%w: %d answers were wrong, the first: %s", ErrWrong, t.Wrong, t.First)
	case len(t.Outcomes) != len(r.Strokes):
		return fmt.Errorf("%w: %d keystrokes, the tester tells of %d", ErrWrong, len(r.Strokes), len(t.Outcomes))
	case s.MostHeld > r.Slots:
		return fmt.Errorf("%w: the scorer held %d slots, it has %d", ErrWrong, s.MostHeld, r.Slots)
	case scoredAnswers > s.Served:
		return fmt.Errorf("%w: %d answers were the scorer's, it tells of %d", ErrWrong, scoredAnswers, s.Served)
	}
	return nil
}
