package tally

import (
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/policy/reason"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name  string
		tally Tally
		want  string // in the error; "" for none
	}{
		{"empty", Tally{}, ""},
		{"one of each", Tally{Offered: 5, Waiting: 1, Running: 2, Abandoned: 1, Answered: answered(reason.Served, 1, reason.Timeout, 1)}, ""},
		{"one is lost", Tally{Offered: 2, Answered: answered(reason.Served, 1)}, "offered 2 != answered 1"},
		{"one too many", Tally{Offered: 1, Waiting: 1, Running: 1}, "waiting 1 + running 1"},
		{"no reason", Tally{Offered: 1, Answered: answered(reason.None, 1)}, "without a reason"},
		{"negative", Tally{Offered: 0, Waiting: -1, Running: 1}, "none may be negative"},
		{"abandoned twice", Tally{Abandoned: -1}, "none may be negative"},
	} {
		err := c.tally.Check()
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestAddAddsEverything(t *testing.T) {
	a := Tally{Offered: 3, Waiting: 1, Running: 1, Abandoned: 2, Answered: answered(reason.Served, 1)}
	sum := a
	sum.Add(&Tally{Offered: 30, Waiting: 10, Running: 10, Abandoned: 20, Answered: answered(reason.Served, 4, reason.Dropped, 6)})
	want := Tally{Offered: 33, Waiting: 11, Running: 11, Abandoned: 22, Answered: answered(reason.Served, 5, reason.Dropped, 6)}
	if sum != want {
		t.Errorf("the sum is %+v, want %+v", sum, want)
	}
	if sum.Total() != 11 || sum.Check() != nil {
		t.Errorf("total %d, %v", sum.Total(), sum.Check())
	}
}

func answered(pairs ...any) (a [reason.Count]int64) {
	for i := 0; i < len(pairs); i += 2 {
		a[pairs[i].(reason.Reason)] = int64(pairs[i+1].(int))
	}
	return a
}
