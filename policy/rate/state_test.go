package rate

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/unit"
)

// Whatever clients have asked, they may ask the same of a table that what they used
// was handed on to, however its clock stands.
func TestABucketIsHandedOnAsItIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := []Rule{
			{Burst: rapid.Int64Range(1, 20).Draw(t, "burst"), Interval: time.Duration(rapid.Int64Range(1, 1e9).Draw(t, "interval"))},
			{Burst: rapid.Int64Range(1, 20).Draw(t, "other burst"), Interval: time.Duration(rapid.Int64Range(1, 1e9).Draw(t, "other interval"))},
		}
		from, to := NewTable(1<<8), NewTable(1<<8)
		now, there := unit.Instant(rapid.Int64Range(0, 1e12).Draw(t, "now")), unit.Instant(rapid.Int64Range(0, 1e12).Draw(t, "there"))
		for range rapid.IntRange(0, 100).Draw(t, "requests") {
			now = now.Add(time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "pause")))
			from.Ask(now, Key(rapid.Uint64Range(1, 9).Draw(t, "client")), &rules[0], far)
		}
		to.Import(there, from.Export(now, 100))
		for range rapid.IntRange(1, 100).Draw(t, "requests later") {
			pause := time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "pause"))
			now, there = now.Add(pause), there.Add(pause)
			k, r := Key(rapid.Uint64Range(1, 9).Draw(t, "client")), &rules[rapid.IntRange(0, 1).Draw(t, "rule")]
			if a, b := from.Ask(now, k, r, far), to.Ask(there, k, r, far); a.Refused != b.Refused {
				t.Fatalf("client %d: %+v here, %+v there", k, a, b)
			}
		}
	})
}

func TestOfTooManyClientsTheBusiestAreHandedOn(t *testing.T) {
	from, to := NewTable(1<<8), NewTable(1<<8)
	r := Rule{Burst: 100, Interval: time.Second}
	for k := Key(1); k <= 9; k++ {
		for range k {
			from.Ask(0, k, &r, far)
		}
	}
	all := from.Export(0, 3)
	if len(all) != 3 || all[0].Key != 9 || all[2].Key != 7 {
		t.Fatalf("handed on: %+v", all)
	}
	to.Import(0, all)
	for _, c := range []struct {
		client Key
		left   int
	}{{9, 91}, {7, 93}, {6, 100}} {
		n := 0
		for !to.Ask(0, c.client, &r, far).Refused {
			n++
		}
		if n != c.left {
			t.Errorf("client %d may ask %d more, want %d", c.client, n, c.left)
		}
	}
}

// What is handed on is taken for what it can mean, and gives nobody anything.
func TestOddBucketsAreTakenForWhatTheyCanMean(t *testing.T) {
	r := Rule{Burst: 2, Interval: time.Second}
	nan := float32(0)
	nan /= nan
	for name, u := range map[string]Used{
		"nobody":               {0, 1e9, 1e9},
		"full":                 {5, 0, 1e9},
		"in the past":          {5, -1 << 63, 1e9},
		"of no rule":           {5, 1e9, 0},
		"of a rule of nothing": {5, 1e9, nan},
	} {
		tb := NewTable(16)
		tb.Import(0, []Used{u})
		refused := [3]bool{}
		for i := range refused {
			refused[i] = tb.Ask(0, 5, &r, far).Refused
		}
		if refused != [3]bool{false, false, true} {
			t.Errorf("%s: the client has not its burst: refused %v", name, refused)
		}
	}
	tb := NewTable(16)
	tb.Import(1<<62, []Used{{5, 1<<63 - 1, 1e9}, {5, 1, 1e9}}) // who owes more goes on owing it
	if v := tb.Ask(1<<62, 5, &r, far); !v.Refused || v.After != far {
		t.Errorf("%+v", v)
	}
}
