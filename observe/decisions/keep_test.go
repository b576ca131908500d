package decisions

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/spillway-dev/spillway/policy/reason"
)

// A changed number forgets what it must and nothing else: where there is more room
// all stays, where there is less the oldest goes, of what there is most of.
func TestKeepAnotherNumber(t *testing.T) {
	for _, c := range []struct {
		name string
		keep int
		want string // the newest first
	}{
		{"more", 100, "5 4 3 2 1 rare"},
		{"the same", 6, "5 4 3 2 1 rare"},
		{"less", 3, "5 4 rare"},
		{"one", 1, "5"},
		{"none", 0, ""},
	} {
		l := New(6)
		l.Add("app", "checkout", "rare", refused(reason.Expired, ""))
		for i := range 5 {
			l.Add("app", "checkout", fmt.Sprint(i+1), refused(reason.QueueFull, ""))
		}
		l.Keep(c.keep, 0)
		if got := l.ids(Query{}); got != c.want {
			t.Errorf("%s: %q are kept, want %q", c.name, got, c.want)
		}
		l.Add("app", "checkout", "next", refused(reason.QueueFull, ""))
		if got := l.ids(Query{Limit: 1}); c.keep > 0 && got != "next" || c.keep == 0 && got != "" {
			t.Errorf("%s: then %q is the newest", c.name, got)
		}
	}
}

// The zero log remembers nothing until it is told to.
func TestTheZeroLog(t *testing.T) {
	var l Log
	l.Add("app", "checkout", "early", refused(reason.QueueFull, ""))
	l.Keep(2, 0)
	l.Add("app", "checkout", "later", refused(reason.QueueFull, ""))
	if got := l.ids(Query{}); got != "later" {
		t.Errorf("kept %q", got)
	}
	var none *Log
	none.Keep(2, 0)
}

// What is as old as may be is gone, also of a kind that has become rare, and its
// place is another's.
func TestAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(200)
		l.Keep(200, time.Minute)
		for i := range 150 {
			l.Add("app", "checkout", "old", refused(reason.QueueFull, fmt.Sprint(i%40)))
		}
		time.Sleep(30 * time.Second)
		l.Add("app", "search", "younger", refused(reason.Expired, ""))
		time.Sleep(30*time.Second - 1)
		if n := len(l.Find(Query{ID: "old", Limit: 200})); n != 150 {
			t.Errorf("%d are left before their time, want 150", n)
		}
		time.Sleep(time.Nanosecond)
		if got := l.ids(Query{}); got != "younger" {
			t.Errorf("left are %q", got)
		}
		if bytesOf(l, "old") {
			t.Error("what is forgotten is in the memory still")
		}
		for i := range 199 {
			l.Add("app", "checkout", fmt.Sprint(i), refused(reason.QueueFull, ""))
		}
		if n := len(l.Find(Query{Limit: LimitMost})); n != 200 {
			t.Errorf("%d have a place, want 200", n)
		}
		l.Keep(200, 0) // for ever again
		time.Sleep(time.Hour)
		if n := len(l.Find(Query{Limit: LimitMost})); n != 200 {
			t.Errorf("%d are left where nothing grows too old, want 200", n)
		}
	})
}

// bytesOf reports whether an id stands anywhere in the log's memory.
func bytesOf(l *Log, id string) bool {
	return slices.ContainsFunc(l.entries, func(e entry) bool { return strings.HasPrefix(string(e.id[:]), id) })
}

// Whatever is added, forgotten and kept differently, in whatever order: the queues
// hold what the entries do, each share the oldest first, and no more than may be.
func TestQueuesAndEntries(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(*testing.T) {
			keep := rapid.IntRange(1, 40).Draw(rt, "keep")
			age := time.Duration(0)
			l := New(keep)
			added := 0
			for range rapid.IntRange(1, 200).Draw(rt, "steps") {
				switch rapid.IntRange(0, 9).Draw(rt, "step") {
				case 0:
					keep = rapid.IntRange(0, 40).Draw(rt, "keep")
					age = time.Duration(rapid.IntRange(0, 20).Draw(rt, "age"))
					l.Keep(keep, age)
				case 1:
					time.Sleep(time.Duration(rapid.IntRange(1, 10).Draw(rt, "pause")))
				default:
					added++
					why := rapid.SampledFrom([]reason.Reason{reason.QueueFull, reason.Expired, reason.Failed}).Draw(rt, "reason")
					l.Add("app", "checkout", fmt.Sprint(added), refused(why, rapid.SampledFrom([]string{"", "x", "y"}).Draw(rt, "tenant")))
					if got := l.ids(Query{Limit: 1}); keep > 0 && got != fmt.Sprint(added) {
						rt.Fatalf("the newest is %q, want %d", got, added)
					}
				}
				l.verify(rt, keep)
				for _, d := range l.Find(Query{Limit: LimitMost}) {
					if old := time.Since(d.Time); age > 0 && old >= age {
						rt.Fatalf("%s is %v old, and may be %v", d.ID, old, age)
					}
				}
			}
		})
	})
}

func (l *Log) verify(t interface{ Fatalf(string, ...any) }, keep int) {
	held, places := 0, 0
	for _, k := range l.order {
		count := 0
		for i := range k.shares {
			last := uint64(0)
			s := &k.shares[i]
			for n, at := 0, s.first; n < s.count; n, at = n+1, l.entries[at].next {
				e := &l.entries[at]
				if e.seq <= last || e.kind != k {
					t.Fatalf("entry %d of seq %d follows %d", at, e.seq, last)
				}
				last = e.seq
				if n == s.count-1 && at != s.last {
					t.Fatalf("the last is %d, not %d", at, s.last)
				}
			}
			count += s.count
		}
		if count != k.count {
			t.Fatalf("%d in the shares of a kind of %d", count, k.count)
		}
		held += count
	}
	for i := range l.entries {
		if l.entries[i].seq != 0 {
			places++
		}
	}
	if held != places || held > keep || held+l.free+len(l.entries)-int(l.unused) != len(l.entries) {
		t.Fatalf("%d in queues, %d in places, %d free of %d used, %d may be", held, places, l.free, l.unused, keep)
	}
}

// A number that changes while many add and ask loses none of their order.
func TestKeepWhileInUse(t *testing.T) {
	l := New(1000)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 20 {
			l.Keep(1000-i*40, time.Duration(i%2)*time.Hour)
			l.Find(Query{Limit: LimitMost})
		}
	}()
	for i := 0; ; i++ {
		l.Add("app", "checkout", fmt.Sprint(i), refused(reason.QueueFull, fmt.Sprint(i%7)))
		select {
		case <-done:
			l.verify(t, 240)
			if got := l.ids(Query{Limit: 1}); got != fmt.Sprint(i) {
				t.Errorf("the newest is %s, want %d", got, i)
			}
			return
		default:
		}
	}
}
