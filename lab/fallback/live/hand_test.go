package live

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/sim/store"
)

// The tester knows what each answer must be: a mix-up of requests, a stand-in that is
// passed off as the answer, or another customer's, is seen.
func TestAnswersAreChecked(t *testing.T) {
	right := func(n int64) float64 { return score(featuresOf(n)) }
	for _, k := range []struct {
		name  string
		a     answer
		wrong bool
	}{
		{"its score", answer{7, 7, right(7), primary}, false},
		{"another request's score", answer{7, 8, right(8), primary}, true},
		{"another score under its number", answer{7, 7, right(8), primary}, true},
		{"a stand-in that is not tagged", answer{1007, 7, right(7), primary}, true},
		{"the customer's score of before", answer{1007, 7, right(7), lastKnown}, false},
		{"another customer's", answer{1007, 8, right(8), lastKnown}, true},
		{"its own score as a stand-in", answer{1007, 1007, right(1007), lastKnown}, true},
		{"a last known score that never was", answer{1007, 7, 0.5, lastKnown}, true},
		{"the default", answer{7, -1, base, byDefault}, false},
		{"another default", answer{7, -1, 0.5, byDefault}, true},
		{"an error", answer{7, -1, 0, refusal}, false},
		{"a rung that there is not", answer{7, 7, right(7), refusal + 1}, true},
	} {
		if why := k.a.fault(); (why != "") != k.wrong {
			t.Errorf("%s: %q", k.name, why)
		}
	}
}

// oneRequest is what the parts tell of a round of one request, answered by its second
// attempt, a millisecond after that one's limit, while the first still holds its slot.
func oneRequest() told {
	at := func(ms int64) unit.Instant { return unit.Instant(ms * int64(time.Millisecond)) }
	return told{
		tester: tested{Sent: []sent{{N: 0, Scheduled: at(10), Begun: at(11), Answered: at(66), Prompt: true}}},
		service: []asked{{N: 0, Decided: at(63), Reason: reason.Served, Attempts: 2, Deciding: 2, Tries: []tried{
			{Attempt: 1, Sent: at(11), Limit: at(36), Cut: true}, {Attempt: 2, Sent: at(36), Limit: at(62)},
		}}},
		store: []held{
			{N: 0, Attempt: 1, Came: at(12), Begun: at(12), Ended: at(1500)}, {N: 0, Attempt: 2, Came: at(37), Begun: at(40), Ended: at(62)},
		},
	}
}

func TestRecordsArePutTogether(t *testing.T) {
	r, all, f := Round{Seed: 1, Waits: "F"}, oneRequest(), Facts{}
	var q store.Request
	var lookups []store.Lookup
	sums, err := r.hand(&all, store.Watch{Request: func(one *store.Request) { q = *one }, Lookup: func(l *store.Lookup) { lookups = append(lookups, *l) }}, &f)
	if err != nil {
		t.Fatal(err)
	}
	if sums != (store.Sums{Requests: 1, Lookups: 2, MaxWaiting: 1}) {
		t.Errorf("%+v", sums)
	}
	if q.Sent != all.store[1].Came || q.Slot != all.store[1].Begun || q.Attempts != 2 || q.Deciding != 2 || !q.CutUnfrozen {
		t.Errorf("%+v", q)
	}
	if len(lookups) != 2 || lookups[0].Fate != store.Used || lookups[1].Fate != store.Late || !lookups[1].Cut {
		t.Errorf("%+v", lookups)
	}
	if f.LagP99Ms != 1 || f.AfterLimit != 1 || f.Checked != 1 {
		t.Errorf("%+v", f)
	}
}

// What one part tells and another does not is no round.
func TestRecordsThatDoNotFitTogether(t *testing.T) {
	for says, change := range map[string]func(*told){
		"answers were wrong":            func(all *told) { all.tester.Wrong, all.tester.First = 1, "request 0" },
		"the service tells of 0":        func(all *told) { all.service = nil },
		"which was not sent":            func(all *told) { all.service[0].N = 1 },
		"was answered by rung 2":        func(all *told) { all.tester.Sent[0].Rung = byDefault },
		"never reached the store":       func(all *told) { all.store = all.store[:1] },
		"the store tells of 2":          func(all *told) { all.service[0].Tries = all.service[0].Tries[:1] },
		"ended as timeout and was answ": func(all *told) { all.service[0].Reason = reason.Timeout },
	} {
		r, all, f := Round{Seed: 1, Waits: "F"}, oneRequest(), Facts{}
		change(&all)
		if _, err := r.hand(&all, store.Watch{}, &f); !errors.Is(err, ErrWrong) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}
