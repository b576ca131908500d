package live

import (
	"context"
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/lab/parts"
	"github.com/spillway-dev/spillway/load"
	"github.com/spillway-dev/spillway/workload"
)

// testerPart offers the keystrokes and checks the answers.
type testerPart struct {
	parts.Trouble
	round   Round
	gateway string
	done    chan tested
}

// tested is the tester's result.
type tested struct {
	Outcomes []Outcome
	Lag      load.Figures
	Checked  int
	Wrong    int
	First    string // what was wrong first
}

// Outcome is what became of a keystroke.
type Outcome struct {
	End    time.Duration // since the round's start; below 0: it was given up when the round ended
	Rung   string        // primary, cache or static; empty: none
	Reason string
}

// Open implements parts.Part.
func (p *testerPart) Open(s spec, gateway string) (string, error) {
	p.round, p.gateway, p.done = s.Round, gateway, make(chan tested, 1)
	return "", nil
}

// Begin implements parts.Part.
func (p *testerPart) Begin(c parts.Clock) { go p.play(c) }

// End implements parts.Part.
func (p *testerPart) End() any { return <-p.done }

// play offers the keystrokes from the round's start on.
func (p *testerPart) play(c parts.Clock) {
	time.Sleep(time.Until(c.Start))
	ctx, cancel := context.WithTimeout(context.Background(), p.round.Until)
	defer cancel()
	told := tested{Outcomes: make([]Outcome, len(p.round.Strokes))}
	for i := range told.Outcomes {
		told.Outcomes[i].End = -1
	}
	names := workload.NewNames()
	result, err := load.Run(ctx, load.Config{
		URL:    "http://" + p.gateway + "/{{.Class}}?q={{.Key}}",
		Header: []string{"X-Number: {{.N}}", "X-Writer: {{.Session}}", "X-Sentence: {{.Stretch}}", "X-Gap: {{.Gap}}"},
		Source: p.round.source(names), Names: names,
		Timeout: 2 * p.round.Until, MaxInFlight: inFlightMost, Keep: keepMost,
		Told: func(o *load.Outcome) { told.take(&p.round, o) },
	})
	if err != nil {
		p.Fail(fmt.Errorf("the gateway: %w", err))
		return
	}
	told.Lag = result.Figures
	p.done <- told
}

// Bounds of what the tester has under way, and keeps of an answer.
const (
	inFlightMost = 1 << 13
	keepMost     = 256
)

// source is the round's keystrokes.
func (r *Round) source(names *workload.Names) workload.Source {
	strip, listed := names.Classes.ID("strip"), names.Classes.ID("listed")
	i := 0
	return workload.SourceFunc(func(a *workload.Arrival) bool {
		if i == len(r.Strokes) {
			return false
		}
		s := &r.Strokes[i]
		*a = workload.Arrival{N: int64(i), At: s.At, Cost: 1, Session: s.Session, Stretch: s.Stretch, Key: s.Key, Gap: s.Gap, Class: strip}
		if s.Listed {
			a.Class = listed
		}
		i++
		return true
	})
}

// take notes what became of a keystroke, and checks its answer.
func (t *tested) take(r *Round, o *load.Outcome) {
	if o.Reason == "caller_gone" && o.Rung == "" && o.Status == 0 {
		return // the round was over
	}
	t.Outcomes[o.N] = Outcome{o.End, o.Rung, o.Reason}
	t.Checked++
	if why := r.Strokes[o.N].fault(o.N, o.Rung, o.Body); why != "" {
		if t.Wrong++; t.Wrong == 1 {
			t.First = fmt.Sprintf("keystroke %d: %s", o.N, why)
		}
	}
}
