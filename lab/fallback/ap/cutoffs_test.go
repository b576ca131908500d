package ap

import (
	"math"
	"testing"

	"github.com/spillway-dev/spillway/lab/fallback/ap/purchases"
)

// logOf makes a log of orders and returns: customer, day, cents.
func logOf(t *testing.T, events ...[3]int64) *purchases.Log {
	t.Helper()
	var all []purchases.Event
	customers := int64(0)
	for _, e := range events {
		all = append(all, purchases.Event{Customer: int(e[0]), At: e[1] * purchases.Day, Cents: e[2]})
		customers = max(customers, e[0]+1)
	}
	l, err := purchases.New("test", int(customers), all)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestTheSixNumbers(t *testing.T) {
	l := logOf(t, [3]int64{0, 100, 1000}, [3]int64{0, 110, 500}, [3]int64{0, 115, -300}, [3]int64{0, 200, 700}, [3]int64{0, 250, 9999})
	var p past
	for _, e := range l.Events[:4] {
		p.take(e)
	}
	got := p.numbers(210 * purchases.Day)
	want := numbers{sinceLast: 10, orders: 3, sinceFirst: 110, spent: 19, meanGap: 50, lately: 1}
	if got != want {
		t.Errorf("numbers %v, want %v", got, want)
	}
	if got := p.numbers(200 * purchases.Day)[lately]; got != 2 {
		t.Errorf("%v orders in the last 90 days, the 90th counted; want 2", got)
	}
}

func TestNumbersOfOneOrderAndOfMoreReturnedThanBought(t *testing.T) {
	var p past
	p.take(purchases.Event{At: 0, Cents: 100})
	p.take(purchases.Event{At: purchases.Day, Cents: -500})
	if got, want := p.numbers(40*purchases.Day), (numbers{sinceLast: 40, orders: 1, sinceFirst: 40, spent: 0, meanGap: 40, lately: 1}); got != want {
		t.Errorf("numbers %v, want %v", got, want)
	}
}

// What a cutoff knows comes from before it, what it asks from the 30 days after
// it, and what is asked about training was known when ranking began.
func TestCutoffsLookBackAndAskAhead(t *testing.T) {
	// Days 0 to 209: 90 of history, cutoffs at 90, 120, 150 and 180.
	l := logOf(t,
		[3]int64{0, 0, 100}, [3]int64{0, 120, 100}, // buys on the very day of the second cutoff
		[3]int64{1, 89, 100}, [3]int64{1, 119, 100}, [3]int64{1, 160, -100}, // returns are no purchases
		[3]int64{2, 121, 100}, [3]int64{2, 209, 100})
	cutoffs, train, err := cutoffsOf(l)
	if err != nil {
		t.Fatal(err)
	}
	if len(cutoffs) != 4 || train != 2 {
		t.Fatalf("%d cutoffs, %d of them for training; want 4 and 2", len(cutoffs), train)
	}
	for i, want := range []struct {
		day       int64
		customers int
		buys      string
	}{{90, 2, "-x"}, {120, 2, "x-"}, {150, 3, "---"}, {180, 3, "--x"}} {
		c := cutoffs[i]
		buys := ""
		for _, b := range c.buys {
			buys += map[bool]string{true: "x", false: "-"}[b]
		}
		if c.at != want.day*purchases.Day || len(c.customers) != want.customers || buys != want.buys {
			t.Errorf("cutoff %d: day %d, customers %v, buys %s; want day %d, %d customers, %s",
				i, c.at/purchases.Day, c.customers, buys, want.day, want.customers, want.buys)
		}
	}
	if got := cutoffs[1].numbers[0][orders]; got != 1 {
		t.Errorf("the order of the cutoff's own day is among the %v that it knows", got)
	}
	if cutoffs[train-1].at+month > cutoffs[train].at {
		t.Error("a training label reaches past the first ranked cutoff")
	}
}

func TestALogMayBeTooShortOrTooLong(t *testing.T) {
	_, _, err := cutoffsOf(logOf(t, [3]int64{0, 0, 100}, [3]int64{0, 208, 100}))
	if want := "test: it covers 209 days (1970-01-01 to 1970-07-28); the ranking needs 210: 90 before the first of four months"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
	cutoffs, train, err := cutoffsOf(logOf(t, [3]int64{0, 0, 100}, [3]int64{0, 5000, 100}))
	if err != nil || len(cutoffs) != maxTrain+maxRanked || train != maxTrain {
		t.Errorf("of 13 years %d cutoffs are used, %d for training, %v; want 18 and 12", len(cutoffs), train, err)
	}
}

func TestLogsAreOfOnePlus(t *testing.T) {
	got := numbers{0, math.E - 1}.logs()
	if got[0] != 0 || !near(got[1], 1) {
		t.Errorf("logs %v, want 0 and 1", got)
	}
}
