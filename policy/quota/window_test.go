package quota

import (
	"testing"
	"time"
	_ "time/tzdata" // the same zones on every machine

	"github.com/spillway-dev/spillway/policy/unit"
	"pgregory.net/rapid"
)

func zone(t interface{ Fatal(...any) }, name string) *time.Location {
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func TestWindowsFollowTheCalendar(t *testing.T) {
	for _, c := range []struct {
		name, zone   string
		period       Period
		at, from, to string
	}{
		{"a day", "UTC", Day, "2026-05-10T23:59:59Z", "2026-05-10T00:00:00Z", "2026-05-11T00:00:00Z"},
		{"its first instant is its own", "UTC", Day, "2026-05-10T00:00:00Z", "2026-05-10T00:00:00Z", "2026-05-11T00:00:00Z"},
		{"a month", "UTC", Month, "2026-02-28T12:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"},
		{"the last month of a year", "UTC", Month, "2026-12-31T12:00:00Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		{"a day of 23 hours", "Europe/Berlin", Day, "2026-03-29T10:00:00Z", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"},
		{"a day of 25 hours", "Europe/Berlin", Day, "2026-10-25T10:00:00Z", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"},
		{"a day that begins at one o'clock", "America/Sao_Paulo", Day, "2018-11-04T12:00:00Z", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"},
		{"a day that is not there", "Pacific/Apia", Day, "2011-12-30T09:00:00Z", "2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			parse := func(s string) unit.Instant {
				at, err := time.Parse(time.RFC3339, s)
				if err != nil {
					t.Fatal(err)
				}
				return unit.Instant(at.UnixNano())
			}
			from, to := Window{c.period, zone(t, c.zone)}.bounds(parse(c.at))
			if from != parse(c.from) || to != parse(c.to) {
				t.Errorf("%v to %v", time.Unix(0, int64(from)).UTC(), time.Unix(0, int64(to)).UTC())
			}
		})
	}
}

// Windows lie side by side: every instant is in its own, and the next begins where
// it ends.
func TestWindowsLeaveNoGap(t *testing.T) {
	names := []string{"UTC", "Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Havana"}
	rapid.Check(t, func(t *rapid.T) {
		w := Window{Period(rapid.IntRange(int(Day), int(Month)).Draw(t, "period")), zone(t, rapid.SampledFrom(names).Draw(t, "zone"))}
		at := unit.Instant(rapid.Int64Range(0, 4e18).Draw(t, "at"))
		from, to := w.bounds(at)
		if at < from || at >= to {
			t.Fatalf("%d is not in %d to %d", at, from, to)
		}
		if same, end := w.bounds(from); same != from || end != to {
			t.Fatalf("the window of its beginning is %d to %d", same, end)
		}
		if next, _ := w.bounds(to); next != to {
			t.Fatalf("the next begins at %d, this ends at %d", next, to)
		}
	})
}

func TestAWindowIsWholeAtItsBeginning(t *testing.T) {
	noon := unit.Instant(time.Date(2026, 5, 10, 12, 0, 0, 0, time.UTC).UnixNano())
	midnight := unit.Instant(time.Date(2026, 5, 11, 0, 0, 0, 0, time.UTC).UnixNano())
	b := []Budget{NewBudget(Limit{Unit: Money, Most: 100, Window: Window{Period: Day}, Refund: true}, at(noon))}
	first := Reservation{Taken: Amounts{Money: 80}, At: at(noon)}
	if v := Decide(at(noon), b, first.Taken); !v.OK() {
		t.Fatal(v)
	}
	v := Decide(at(noon+1), b, Amounts{Money: 30})
	if v.OK() || v.After != midnight.Sub(noon+1) {
		t.Fatalf("%+v, want a refusal until midnight", v)
	}
	if Decide(at(midnight-1), b, Amounts{Money: 30}).OK() || !Decide(at(midnight), b, Amounts{Money: 30}).OK() {
		t.Fatal("not at midnight")
	}
	// What was taken yesterday and not used is no credit today; what was used beyond
	// it is owed.
	first.State = Started
	again := first
	same := append([]Budget(nil), b...)
	if err := first.Settle(0, at(midnight), b, Amounts{Money: 10}); err != nil || b[0].Left != 70 {
		t.Errorf("%v, %d left, want 70", err, b[0].Left)
	}
	if err := again.Settle(0, at(midnight), same, Amounts{Money: 95}); err != nil || same[0].Left != 55 {
		t.Errorf("%v, %d left, want 55", err, same[0].Left)
	}
}

func TestEachLimitGoesByItsOwnClock(t *testing.T) {
	day := unit.Instant(24 * time.Hour)
	fresh := func() []Budget {
		b := []Budget{
			NewBudget(Limit{Unit: Tokens, Most: 10, Refill: 10, Every: time.Hour}, Time{}),
			NewBudget(Limit{Unit: Money, Most: 10, Window: Window{Period: Day}}, Time{}),
		}
		Decide(Time{}, b, Amounts{Tokens: 10, Money: 10})
		return b
	}
	for _, c := range []struct {
		name          string
		then          Time
		bucket, today int64
	}{
		{"a day has passed", Time{Run: day, Wall: day}, 10, 10},
		{"a clock was put forward", Time{Wall: day}, 0, 10},
		{"a clock was put back while a day passed", Time{Run: day, Wall: -day}, 10, 0},
	} {
		b := fresh()
		if got, today := b[0].Free(c.then), b[1].Free(c.then); got != c.bucket || today != c.today {
			t.Errorf("%s: %d and %d free, want %d and %d", c.name, got, today, c.bucket, c.today)
		}
	}
}
