package live

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/workload"
)

// The tester knows what each answer must be: another keystroke's, a kept one to another
// question or from later, and a list passed off as the scorer's are seen.
func TestAnswersAreChecked(t *testing.T) {
	scored := func(question, number string) string { return `{"question":` + question + `,"number":` + number + `}` }
	strip, nobody, toList := Stroke{Key: 7}, Stroke{}, Stroke{Key: 7, Listed: true}
	for _, k := range []struct {
		name  string
		of    Stroke
		rung  string
		body  string
		wrong bool
	}{
		{"its own", strip, "primary", scored("7", "5"), false},
		{"of another question", strip, "primary", scored("8", "5"), true},
		{"of another keystroke", strip, "primary", scored("7", "4"), true},
		{"the list as the scorer's", strip, "primary", listed(), true},
		{"kept from before", strip, "cache", scored("7", "4"), false},
		{"kept, of another question", strip, "cache", scored("8", "4"), true},
		{"kept from later", strip, "cache", scored("7", "6"), true},
		{"kept although nothing is asked twice", nobody, "cache", scored("0", "4"), true},
		{"the list", strip, "static", listed(), false},
		{"a score as the list", strip, "static", scored("7", "5"), true},
		{"sent to the list at once", toList, "primary", listed(), false},
		{"sent to the list, and scored", toList, "primary", scored("7", "5"), true},
		{"no answer", strip, "", "{}", false},
		{"a rung that there is not", strip, "elsewhere", scored("7", "5"), true},
		{"no JSON", strip, "primary", "served", true},
		{"nothing in it", strip, "primary", "", true},
	} {
		if why := k.of.fault(5, k.rung, []byte(k.body)); (why != "") != k.wrong {
			t.Errorf("%s: %q", k.name, why)
		}
	}
}

// What the tester tells and what the scorer tells fit together, or the round is none.
func TestTalesThatDoNotFitTogether(t *testing.T) {
	round := Round{Slots: 2, Strokes: []Stroke{{Key: 1}, {Key: 2}, {Listed: true}}}
	tale := func() (*tested, *scored) {
		return &tested{Outcomes: []Outcome{{1, "primary", "served"}, {2, "static", "shed_for_load"}, {3, "primary", "served"}}}, &scored{Served: 1, MostHeld: 2}
	}
	if a, b := tale(); round.fit(a, b) != nil {
		t.Error(round.fit(a, b))
	}
	for says, change := range map[string]func(*tested, *scored){
		"answers were wrong":       func(a *tested, _ *scored) { a.Wrong, a.First = 1, "keystroke 0" },
		"the tester tells of 2":    func(a *tested, _ *scored) { a.Outcomes = a.Outcomes[:2] },
		"held 3 slots":             func(_ *tested, b *scored) { b.MostHeld = 3 },
		"1 answers were the score": func(_ *tested, b *scored) { b.Served = 0 },
	} {
		a, b := tale()
		change(a, b)
		if err := round.fit(a, b); !errors.Is(err, ErrWrong) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

// Work goes on at the speed of the moment, and an outage ends it.
func TestWhatWorkTakes(t *testing.T) {
	const ms = time.Millisecond
	conditions, err := workload.ParseConditions("x2@1s+1s,outage@10s+1s")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct {
		at, takes time.Duration
		done      bool
	}{
		{0, 500 * ms, true}, {1200 * ms, 900 * ms, true}, {800 * ms, 800 * ms, true}, {9800 * ms, 200 * ms, false}, {10500 * ms, 0, false},
	} {
		p := scorerPart{conditions: conditions, service: 500 * ms}
		takes, done := p.takesFrom(k.at)
		if takes != k.takes || done != k.done {
			t.Errorf("from %v: %v, %v; want %v, %v", k.at, takes, done, k.takes, k.done)
		}
	}
}

func TestRoundsThatCannotBePlayed(t *testing.T) {
	for name, change := range map[string]func(*Round){
		"slots":      func(r *Round) { r.Slots = 0 },
		"service":    func(r *Round) { r.Service = 2 * time.Second },
		"length":     func(r *Round) { r.Until = 2 * time.Hour },
		"rate":       func(r *Round) { r.Strokes = make([]Stroke, 30_000) },
		"conditions": func(r *Round) { r.Conditions = "x2" },
	} {
		r := Round{Slots: 2, Service: time.Millisecond, Until: time.Second}
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
		change(&r)
		if _, _, err := NewBench(nil, 1).Play(t.Context(), r); err == nil {
			t.Errorf("%s: it is played", name)
		}
	}
}
