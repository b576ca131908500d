package quota

import (
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

func TestWhenARecordIsAsked(t *testing.T) {
	const after = 10 * time.Minute
	for _, c := range []struct {
		rule         Reconcile
		since, asked unit.Instant
		want         unit.Instant
	}{
		{Reconcile{}, 5, 0, unit.Never},
		{Reconcile{After: after}, 5, 0, unit.Instant(5).Add(after)},
		{Reconcile{After: after}, 5, 7, unit.Instant(7).Add(after)},
	} {
		if got := c.rule.Ask(c.since, c.asked); got != c.want {
			t.Errorf("%+v since %d, asked %d: %d, want %d", c.rule, c.since, c.asked, got, c.want)
		}
	}
}

func TestWhatARecordEnds(t *testing.T) {
	for _, c := range []struct {
		rule             Reconcile
		said             Recorded
		ends, notStarted bool
	}{
		{Reconcile{After: 1}, CannotTell, false, false},
		{Reconcile{After: 1}, Running, false, false},
		{Reconcile{After: 1}, Ended, true, false},
		{Reconcile{After: 1}, Absent, true, true},
		{Reconcile{}, Ended, false, false},
	} {
		if ends, never := c.rule.Ends(c.said); ends != c.ends || ends && never != c.notStarted {
			t.Errorf("%+v, %d: %v, %v", c.rule, c.said, ends, never)
		}
	}
	if ends, _ := (Reconcile{}).Ends(Absent); ends {
		t.Error("off ends a call")
	}
}
