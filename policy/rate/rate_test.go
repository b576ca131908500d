package rate

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/unit"
)

const (
	ms  = time.Millisecond
	far = time.Hour // the most that may be told, where it is of no matter
)

// twoASecond allows three at once and two a second.
var twoASecond = Rule{Burst: 3, Interval: 500 * ms}

func TestAClientMayAskItsBurstAndThenItsRate(t *testing.T) {
	tb := NewTable(16)
	steps := []struct {
		at    time.Duration
		after time.Duration // 0: admitted
	}{
		{0, 0}, {0, 0}, {0, 0},
		{0, 500 * ms},
		{100 * ms, 900 * ms}, // the first was told 500 ms: this is an interval behind it
		{500 * ms, 0},        // who obeys is admitted
		{999 * ms, 501 * ms},
		{1000 * ms, 0},
		{1500 * ms, 0},
		{10 * time.Second, 0}, {10 * time.Second, 0}, {10 * time.Second, 0}, // silence fills it, up to the burst
		{10 * time.Second, 500 * ms},
	}
	for i, s := range steps {
		v := tb.Ask(unit.Instant(s.at), 7, &twoASecond, far)
		if v.Refused != (s.after > 0) || v.After != s.after || v.Busy {
			t.Errorf("step %d at %v: %+v, want to be told %v", i, s.at, v, s.after)
		}
	}
}

func TestTheInstantThatIsToldIsTheFirstThatIsFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Rule{Burst: rapid.Int64Range(1, 20).Draw(t, "burst"), Interval: time.Duration(rapid.Int64Range(1, 1e9).Draw(t, "interval"))}
		tb := NewTable(16)
		now := unit.Instant(rapid.Int64Range(0, 1e12).Draw(t, "now"))
		for range r.Burst {
			if tb.Ask(now, 1, &r, far).Refused {
				t.Fatal("refused inside its burst")
			}
		}
		after := tb.Ask(now, 1, &r, 1<<62).After
		early, exact := *tb, *tb
		early.sets, exact.sets = clone(tb.sets), clone(tb.sets)
		if !early.Ask(now.Add(after-1), 1, &r, far).Refused {
			t.Errorf("told %v, and admitted a nanosecond before", after)
		}
		if exact.Ask(now.Add(after), 1, &r, far).Refused {
			t.Errorf("told %v, and refused then", after)
		}
	})
}

func clone(sets [][ways]entry) [][ways]entry { return append([][ways]entry(nil), sets...) }

func TestNoHintIsLongerThanMayBeTold(t *testing.T) {
	tb := NewTable(16)
	hourly := Rule{Burst: 1, Interval: time.Hour}
	tb.Ask(0, 1, &hourly, 30*time.Second)
	for range 3 {
		if v := tb.Ask(0, 1, &hourly, 30*time.Second); v.After != 30*time.Second {
			t.Errorf("told %v, want 30s", v.After)
		}
	}
}

func TestNoMoreAreUnderWayThanTheRuleAllows(t *testing.T) {
	tb := NewTable(16)
	r := Rule{Concurrent: 2}
	for i := range 2 {
		if tb.Ask(0, 5, &r, far).Refused || !tb.Hold(5) {
			t.Fatalf("request %d is refused or not remembered", i)
		}
	}
	if v := tb.Ask(0, 5, &r, far); !v.Refused || !v.Busy {
		t.Errorf("the third: %+v, want busy", v)
	}
	if tb.Ask(0, 6, &r, far).Refused {
		t.Error("another client is refused for what this one has under way")
	}
	tb.Release(5)
	if tb.Ask(0, 5, &r, far).Refused {
		t.Error("refused although one has ended")
	}
	tb.Release(5)
	tb.Release(5) // one too many changes nothing
	for range 2 {
		tb.Hold(5)
	}
	if !tb.Ask(0, 5, &r, far).Refused {
		t.Error("a release too many has made room for a third")
	}
}

func TestWhoIsBusyPaysNothing(t *testing.T) {
	tb := NewTable(16)
	r := Rule{Burst: 2, Interval: time.Second, Concurrent: 1}
	tb.Ask(0, 5, &r, far)
	tb.Hold(5)
	for range 10 {
		tb.Ask(0, 5, &r, far)
	}
	tb.Release(5)
	if tb.Ask(0, 5, &r, far).Refused {
		t.Error("requests that were refused have been taken out of the bucket")
	}
}

// Over any stretch of time a client whose entry lives is admitted no more
// often than burst + time / interval, and never less often than its rate where
// it asks all the time.
func TestNobodyIsAdmittedMoreThanBurstAndRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Rule{Burst: rapid.Int64Range(-1, 5).Draw(t, "burst"), Interval: time.Duration(rapid.Int64Range(1, 50).Draw(t, "interval"))}
		burst := max(r.Burst, 1)
		tb := NewTable(64)
		var now unit.Instant
		admitted := make(map[Key][]unit.Instant)
		for range 400 {
			now = now.Add(time.Duration(rapid.Int64Range(0, 20).Draw(t, "step")))
			k := Key(rapid.Uint64Range(1, 3).Draw(t, "client"))
			if !tb.Ask(now, k, &r, far).Refused {
				admitted[k] = append(admitted[k], now)
			}
		}
		for k, at := range admitted {
			for i := range at {
				for j := i; j < len(at); j++ {
					if n, most := int64(j-i+1), burst+int64(at[j].Sub(at[i])/r.Interval); n > most {
						t.Fatalf("client %d: %d admitted in %v, at most %d are allowed", k, n, at[j].Sub(at[i]), most)
					}
				}
			}
		}
	})
}

// Ten million addresses: memory stays what it was, nobody who asks for the
// first time is refused, and the one who asks too much is still held to its
// rule, because a flood of those who ask once pushes out itself.
func TestTenMillionClientsInTheMemoryOfSixtyThousand(t *testing.T) {
	clients := 10_000_000
	if testing.Short() {
		clients = 1_000_000
	}
	tb := NewTable(1 << 16)
	r := Rule{Burst: 20, Interval: 100 * ms}
	salt := chance.New(1)
	greedy := Key(salt.Uint64())
	var now unit.Instant
	admitted := 0
	const step = 10 * time.Microsecond // 100,000 addresses a second
	for i := range clients {
		now = now.Add(step)
		if tb.Ask(now, Key(salt.Uint64()), &r, far).Refused {
			t.Fatalf("client %d is refused, and has asked only once", i)
		}
		if i%100 == 0 && !tb.Ask(now, greedy, &r, far).Refused { // 1,000 a second, allowed are 10
			admitted++
		}
	}
	if len(tb.sets)*ways != 1<<16 {
		t.Errorf("%d places, made with %d", len(tb.sets)*ways, 1<<16)
	}
	if most := int(r.Burst) + int(now.Sub(0)/r.Interval) + 1; admitted > most {
		t.Errorf("the greedy one was admitted %d times, its rule allows %d", admitted, most)
	}
	if tb.Early() > int64(clients)/100 {
		t.Errorf("%d forgotten early of %d: one bucket takes 100 ms to fill, in which 10,000 arrive for 65,536 places", tb.Early(), clients)
	}
}

// A client that was forgotten early has one full bucket more, and it is counted.
func TestWhatBeingForgottenIsWorth(t *testing.T) {
	tb := NewTable(ways) // one set
	r := Rule{Burst: 2, Interval: time.Second}
	ask := func(k Key) bool { return !tb.Ask(0, k, &r, far).Refused }
	ask(1)
	for k := Key(2); k <= ways; k++ {
		ask(k)
		ask(k)
	}
	if ask(2) || tb.Early() != 0 {
		t.Fatal("its bucket is empty, and nobody was forgotten yet")
	}
	if !ask(100) || tb.Early() != 1 {
		t.Errorf("a newcomer is let in and the one with the fullest bucket forgotten; %d are", tb.Early())
	}
	burst := [...]bool{ask(1), ask(1), ask(1)}
	if burst != [...]bool{true, true, false} {
		t.Error("who was forgotten has one burst and no more")
	}
}

func TestWhoHasRequestsUnderWayIsNotForgotten(t *testing.T) {
	tb := NewTable(ways)
	r := Rule{Burst: 1, Interval: time.Second, Concurrent: 1}
	for k := Key(1); k <= ways; k++ {
		tb.Ask(0, k, &r, far)
		if !tb.Hold(k) {
			t.Fatal("not remembered")
		}
	}
	if tb.Ask(0, 50, &r, far).Refused || tb.Hold(50) {
		t.Error("a newcomer beside four that are busy is let in, and not remembered")
	}
	for k := Key(1); k <= ways; k++ {
		if !tb.Ask(time0(9), k, &r, far).Busy {
			t.Errorf("client %d was forgotten while its request was under way", k)
		}
	}
}

func time0(seconds int64) unit.Instant { return unit.Instant(seconds * int64(time.Second)) }

func TestAnotherSizeKeepsBucketsAndWhatIsUnderWay(t *testing.T) {
	tb := NewTable(64)
	r := Rule{Burst: 1, Interval: time.Hour, Concurrent: 9}
	src := chance.New(3)
	keys := make([]Key, 20)
	for i := range keys {
		keys[i] = Key(src.Uint64())
		tb.Ask(0, keys[i], &r, far)
		tb.Hold(keys[i])
	}
	for _, size := range []int{1 << 12, 1 << 10, 1 << 10} {
		tb.Resize(size)
		if tb.Entries() != size {
			t.Errorf("%d entries, want %d", tb.Entries(), size)
		}
		for _, k := range keys {
			if !tb.Ask(1, k, &r, far).Refused || tb.find(k).held != 1 {
				t.Errorf("at %d entries, client %x has a full bucket or lost what is under way", size, k)
			}
		}
	}
}

func TestNobodyAndNoRuleAreNotLimited(t *testing.T) {
	tb := NewTable(16)
	tight := Rule{Burst: 1, Interval: time.Hour, Concurrent: 1}
	for range 5 {
		if tb.Ask(0, 0, &tight, far).Refused || tb.Hold(0) {
			t.Fatal("the zero key stands for nobody")
		}
		if tb.Ask(0, 1, &Rule{}, far).Refused {
			t.Fatal("the zero rule limits nothing")
		}
	}
}

func TestBudgetsAreCountedApart(t *testing.T) {
	seen := make(map[Key]bool)
	for k := Key(0); k < 100; k++ {
		for budget := range uint64(20) {
			own := k.In(budget)
			if own == 0 || seen[own] {
				t.Fatalf("client %d in budget %d is %x, which is nobody or another", k, budget, own)
			}
			seen[own] = true
		}
	}
}

func TestIntervalsOfRates(t *testing.T) {
	for _, c := range []struct {
		perSecond float64
		want      time.Duration
	}{
		{1, time.Second}, {3, 333333333}, {0.5, 2 * time.Second}, {1e9, 1}, {1e12, 1}, {1e-300, slackMax}, {0, 0}, {-1, 0}, {nan(), 0},
	} {
		if got := Interval(c.perSecond); got != c.want {
			t.Errorf("%v a second: every %v, want %v", c.perSecond, got, c.want)
		}
	}
}

func nan() float64 { zero := 0.0; return zero / zero }

// What a configuration may hold must not overflow.
func TestExtremesStayInRange(t *testing.T) {
	for _, r := range []Rule{{Burst: 1 << 62, Interval: 1 << 62}, {Burst: 1, Interval: slackMax}, {Burst: 1 << 62, Interval: 1}} {
		tb := NewTable(16)
		for i := range 5 {
			v := tb.Ask(unit.Instant(i)<<60, 1, &r, far)
			if v.After < 0 || v.After > far {
				t.Errorf("%+v: told %v", r, v.After)
			}
		}
	}
	if n := NewTable(1 << 40).Entries(); n != EntriesMax {
		t.Errorf("%d entries, the most is %d", n, EntriesMax)
	}
}

func TestAskingAllocatesNothing(t *testing.T) {
	tb := NewTable(1 << 10)
	src := chance.New(2)
	r := Rule{Burst: 2, Interval: ms, Concurrent: 3}
	var now unit.Instant
	if n := testing.AllocsPerRun(1000, func() {
		k := Key(src.Uint64() % 4096)
		now = now.Add(time.Microsecond)
		if !tb.Ask(now, k, &r, far).Refused && tb.Hold(k) {
			tb.Release(k)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkAsk is one question in a table that fits a cache, and in ones that
// do not.
func BenchmarkAsk(b *testing.B) {
	r := Rule{Burst: 20, Interval: 100 * ms}
	for _, clients := range []uint64{1000, 100_000, 10_000_000} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			tb := NewTable(0)
			b.ReportAllocs()
			var now unit.Instant
			src := chance.New(9)
			for b.Loop() {
				now += 1000
				tb.Ask(now, Key(chance.Mix(src.Uint64()%clients+1)), &r, far)
			}
		})
	}
}

// A limit that a reload halves holds at once, and counts what the client has used up
// already; one that is taken away and comes back finds what was used before it went.
func TestAChangedLimitHoldsAtOnceAndKeepsWhatIsUsed(t *testing.T) {
	const client = Key(7)
	wide := Rule{Burst: 10, Interval: time.Minute}
	half := Rule{Burst: 5, Interval: time.Minute}
	may := func(tb *Table, r Rule) (n int) {
		for !tb.Ask(0, client, &r, far).Refused {
			n++
		}
		return n
	}
	for _, c := range []struct {
		name string
		used int
		then []Rule
		want int // more under the last rule
	}{
		{"nothing changes", 3, []Rule{wide}, 7},
		{"halved", 3, []Rule{half}, 2},
		{"halved below what is used", 6, []Rule{half}, 0},
		{"exhausted and halved", 10, []Rule{half}, 0},
		{"halved and back", 6, []Rule{half, wide}, 4},
		{"half as often", 6, []Rule{{Burst: 10, Interval: 2 * time.Minute}}, 4},
		{"taken away and back", 6, []Rule{{}, wide}, 4},
	} {
		tb := NewTable(64)
		for range c.used {
			tb.Ask(0, client, &wide, far)
		}
		for _, r := range c.then[:len(c.then)-1] {
			tb.Ask(0, client, &r, far)
		}
		if c.name == "halved and back" && !tb.Ask(0, client, &half, far).Refused {
			t.Errorf("%s: the half does not hold", c.name)
		}
		if got := may(tb, c.then[len(c.then)-1]); got != c.want {
			t.Errorf("%s: %d more, want %d", c.name, got, c.want)
		}
	}
}
