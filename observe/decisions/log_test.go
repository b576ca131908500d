package decisions

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
)

func refused(why reason.Reason, tenant string) *boundary.Case {
	return &boundary.Case{Reason: why, Tenant: tenant}
}

func (l *Log) ids(q Query) string {
	var ids []string
	for _, d := range l.Find(q) {
		ids = append(ids, d.ID)
	}
	return strings.Join(ids, " ")
}

// What is rare stays, however much of one kind there is, of one tenant or of a
// million made-up ones.
func TestAFloodPushesOutItself(t *testing.T) {
	for name, tenant := range map[string]func(int) string{
		"of one tenant":         func(int) string { return "flood" },
		"of made-up tenants":    func(i int) string { return fmt.Sprint("made up ", i) },
		"of a tenant with none": func(int) string { return "" },
	} {
		t.Run(name, func(t *testing.T) {
			l := New(100)
			l.Add("app", "checkout", "rare reason", refused(reason.Expired, "acme"))
			l.Add("app", "search", "rare class", refused(reason.QueueFull, "acme"))
			l.Add("store", "checkout", "rare upstream", refused(reason.QueueFull, "acme"))
			for i := range 100_000 {
				l.Add("app", "checkout", fmt.Sprint(i), refused(reason.QueueFull, tenant(i)))
			}
			for _, id := range []string{"rare reason", "rare class", "rare upstream", "99999"} {
				if len(l.Find(Query{ID: id})) != 1 {
					t.Errorf("%q is gone", id)
				}
			}
			if n := len(l.Find(Query{Limit: LimitMost})); n != 100 {
				t.Errorf("%d are kept, want 100", n)
			}
		})
	}
}

// Within a kind a tenant that floods leaves those of other shares alone.
func TestATenantThatFloodsPushesOutItself(t *testing.T) {
	l := New(100)
	for i := range 30 {
		l.Add("app", "checkout", fmt.Sprint("quiet ", i), refused(reason.QueueFull, fmt.Sprint("tenant ", i)))
	}
	for range 100_000 {
		l.Add("app", "checkout", "flood", refused(reason.QueueFull, "flood"))
	}
	kept := 0
	for i := range 30 {
		if len(l.Find(Query{ID: fmt.Sprint("quiet ", i)})) == 1 {
			kept++
		} else if shareOf(fmt.Sprint("tenant ", i)) != shareOf("flood") {
			t.Errorf("quiet %d is gone, which shares nothing with the flood", i)
		}
	}
	if kept < 20 {
		t.Errorf("%d of 30 are kept", kept)
	}
}

// Two kinds that flood share the log.
func TestTwoFloodsShareTheLog(t *testing.T) {
	l := New(100)
	for i := range 10_000 {
		l.Add("app", "a", "", refused(reason.QueueFull, ""))
		if i%10 == 0 {
			l.Add("app", "b", "", refused(reason.QueueFull, ""))
		}
	}
	if n := len(l.Find(Query{Class: "b", Limit: 100})); n < 49 || n > 51 {
		t.Errorf("a tenth of the flood has %d of 100 places, want half", n)
	}
}

// The log against a slice of all there ever was: what it finds was added and
// matches, the newest first; what was added last is there; and nothing more is kept
// than may be.
func TestFindAgainstASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keep := rapid.IntRange(1, 200).Draw(t, "keep")
		l := New(keep)
		var all []Decision
		for i := range rapid.IntRange(1, 400).Draw(t, "added") {
			d := Decision{
				ID: fmt.Sprint(i), Class: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "class"),
				Tenant: rapid.SampledFrom([]string{"", "x", "y", "z"}).Draw(t, "tenant"),
				Reason: rapid.SampledFrom([]string{"queue_full", "expired"}).Draw(t, "reason"),
			}
			why, _ := reason.Parse(d.Reason)
			l.Add("app", d.Class, d.ID, refused(why, d.Tenant))
			all = append(all, d)
		}
		q := Query{
			Class: rapid.SampledFrom([]string{"", "a", "b", "none"}).Draw(t, "q class"), Limit: rapid.IntRange(0, 300).Draw(t, "limit"),
			Reason: rapid.SampledFrom([]reason.Reason{reason.None, reason.Expired}).Draw(t, "q reason"),
		}
		if rapid.Bool().Draw(t, "by tenant") {
			name := rapid.SampledFrom([]string{"", "x", "w"}).Draw(t, "q tenant")
			q.Tenant = &name
		}
		last := len(all)
		for _, d := range l.Find(q) {
			var i int
			fmt.Sscan(d.ID, &i)
			if was := all[i]; was.Class != d.Class || was.Tenant != d.Tenant || was.Reason != d.Reason || i >= last ||
				q.Class != "" && q.Class != d.Class || q.Tenant != nil && *q.Tenant != d.Tenant || q.Reason != reason.None && q.Reason.String() != d.Reason {
				t.Fatalf("%+v found %+v", q, d)
			}
			last = i
		}
		if n := len(l.Find(Query{Limit: LimitMost})); n != min(keep, len(all)) {
			t.Fatalf("%d are kept of %d, want %d at most", n, len(all), keep)
		}
		if got := l.ids(Query{Limit: 1}); got != all[len(all)-1].ID {
			t.Fatalf("the newest is %s, want %s", got, all[len(all)-1].ID)
		}
	})
}

func TestSince(t *testing.T) {
	l := New(10)
	l.Add("app", "a", "1", refused(reason.QueueFull, ""))
	if l.ids(Query{Since: time.Now().Add(-time.Minute)}) != "1" || l.ids(Query{Since: time.Now().Add(time.Minute)}) != "" {
		t.Error("what is asked for since an instant")
	}
}

// Ids and names are cut, not refused, and found by what was asked for.
func TestLongNames(t *testing.T) {
	l := New(10)
	name := strings.Repeat("ü", 500)
	l.Add("app", "a", strings.Repeat("i", 500), refused(reason.QueueFull, name))
	d := l.Find(Query{Tenant: &name})
	if len(d) != 1 || len(d[0].Tenant) != tenantMax || len(d[0].ID) != idMax {
		t.Errorf("%+v", d)
	}
}

func TestManyAtOnce(t *testing.T) {
	l := New(100)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 1000 {
				l.Add("app", fmt.Sprint(i), "x", refused(reason.QueueFull, fmt.Sprint(i)))
			}
			l.Find(Query{})
		})
	}
	all.Wait()
	if n := len(l.Find(Query{Limit: 1000})); n != 100 {
		t.Errorf("%d are kept", n)
	}
}

// Nothing is allocated for a decision, and the memory is what doc.go says.
func TestCost(t *testing.T) {
	l := New(100)
	x := refused(reason.QueueFull, "acme")
	add := func() { l.Add("app", "checkout", "id", x) }
	if n := testing.AllocsPerRun(1000, add); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if s := unsafe.Sizeof(entry{}); s > 700 {
		t.Errorf("a decision takes %d bytes", s)
	}
}

// What goes out as JSON comes back as it was, for the command reads it so.
func TestJSON(t *testing.T) {
	l := New(10)
	l.Add("app", "a", "1", &boundary.Case{Reason: reason.Dropped, Room: reason.QueueFull, Left: 1500, Instead: boundary.Instead{Bound: 3, Deadline: time.Second}})
	want := l.Find(Query{})[0]
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Decision
	if err := json.Unmarshal(b, &got); err != nil || got != want || got.Timing.LeftMS != 0.002 {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

// BenchmarkAdd is a decision more in a full log, of the kind that floods it and of
// one that takes turns with it.
func BenchmarkAdd(b *testing.B) {
	for _, kinds := range []int{1, 2} {
		b.Run(fmt.Sprint("kinds ", kinds), func(b *testing.B) {
			l := New(KeepDefault)
			for i := range 2 * KeepDefault {
				l.Add("app", fmt.Sprint(i%30), "", refused(reason.QueueFull, ""))
			}
			x := refused(reason.QueueFull, "acme")
			classes := []string{"checkout", "search"}[:kinds]
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				l.Add("app", classes[i%kinds], "2a7slr16u47ix", x)
			}
		})
	}
}
