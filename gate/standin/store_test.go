package standin

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheLastAnswerIsGivenUntilItIsTooOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options[string]{Limits: Limits{Age: time.Minute}})
		s.Put("k", "old")
		time.Sleep(20 * time.Second)
		s.Put("k", "new")
		time.Sleep(time.Minute)
		if v, age, ok := s.Get("k"); v != "new" || age != time.Minute || !ok {
			t.Errorf("%q, %v, %v", v, age, ok)
		}
		time.Sleep(time.Nanosecond)
		if v, _, ok := s.Get("k"); ok {
			t.Errorf("%q is given after its age limit", v)
		}
		if _, _, ok := s.Get("other"); ok {
			t.Error("another key has an answer")
		}
	})
}

// An answer that was asked for earlier may come later. It is not the last one.
func TestAnOlderAnswerDoesNotReplaceANewer(t *testing.T) {
	s := New(Options[string]{})
	s.PutAged("k", "new", time.Second)
	s.PutAged("k", "old", time.Hour)
	if v, _, _ := s.Get("k"); v != "new" {
		t.Error(v)
	}
}

func TestWhatIsTooLargeIsNotKeptAndNeitherIsWhatItReplaces(t *testing.T) {
	s := New(Options[string]{Limits: Limits{Bytes: 1000}, Size: func(v string) int { return len(v) }})
	s.Put("k", "small")
	s.Put("k", string(make([]byte, 1000)))
	if v, _, ok := s.Get("k"); ok {
		t.Errorf("%q is no longer the last", v)
	}
	if n := s.Stats(); n.Entries != 0 || n.Bytes != 0 || n.TooLarge != 1 {
		t.Errorf("%+v", n)
	}
}

// A crawler asks for a hundred times what fits, each key once. Keys that come again
// stay; with oldest-first eviction each would be gone at every second of its turns.
func TestAScanDoesNotPushOutWhatComesAgain(t *testing.T) {
	s := New(Options[int]{Limits: Limits{Entries: 100}})
	missed := 0
	for i := range 10_000 {
		s.Put("scan"+strconv.Itoa(i), i)
		if i%10 == 0 {
			popular := "popular" + strconv.Itoa(i/10%5)
			if _, _, ok := s.Get(popular); !ok {
				missed++
			}
			s.Put(popular, i)
		}
	}
	if missed != 5 {
		t.Errorf("five popular keys were missed %d times in 1000, want each once", missed)
	}
}

// Memory follows the limits and not the traffic, whatever comes.
func TestAMillionKeysTakeNoMoreThanTheLimits(t *testing.T) {
	for _, l := range []Limits{{Entries: 1000}, {Entries: 1 << 20, Bytes: 1 << 20}, {Entries: 1, Bytes: 1}, {Entries: 50_000, Bytes: 64 << 20}} {
		s := New(Options[int]{Limits: l, Size: func(v int) int { return v % 999 }, Journal: true})
		for i := range 1_000_000 / 10 {
			s.Put(strconv.Itoa(i), i)
		}
		n := s.Stats()
		if most := s.Limits(); n.Entries > int64(l.Entries) || n.Bytes > most.Bytes || most.Entries > l.Entries {
			t.Errorf("%+v holds %+v", l, n)
		}
		for i := range s.shards {
			if h := &s.shards[i]; len(h.dirty) > len(h.places) || len(h.places) > h.entriesMost+1 {
				t.Errorf("%+v: %d places, %d dirty", l, len(h.places), len(h.dirty))
			}
		}
		s.Resize(Limits{Entries: 10})
		if n := s.Stats(); n.Entries > 16 {
			t.Errorf("after it was made smaller it holds %+v", n)
		}
	}
}

// Whatever is done, what is got was the last put, the sums close, and every change
// is told once.
func TestAgainstAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := Limits{Entries: rapid.IntRange(1, 12).Draw(t, "entries"), Bytes: rapid.Int64Range(100, 1500).Draw(t, "bytes")}
		journal := rapid.Bool().Draw(t, "journal")
		s := New(Options[int]{Limits: limit, Size: func(v int) int { return v }, Journal: journal})
		model, told := map[string]int{}, map[string]int{}
		key := rapid.Map(rapid.IntRange(0, 20), strconv.Itoa)
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				k, v := key.Draw(t, "key"), rapid.IntRange(0, 300).Draw(t, "value")
				s.Put(k, v)
				model[k] = v
			},
			"delete": func(t *rapid.T) {
				k := key.Draw(t, "key")
				s.Delete(k)
				delete(model, k)
			},
			"restore": func(t *rapid.T) {
				k := key.Draw(t, "key")
				_, _, there := s.Get(k)
				if _, was := model[k]; !was && !there && s.Restore(k, 7, time.Now().Add(-time.Hour)) {
					if _, _, now := s.Get(k); now {
						model[k] = 7
					}
				}
			},
			"take": func(t *rapid.T) {
				for _, c := range s.Changed(nil, rapid.IntRange(0, 5).Draw(t, "most")) {
					if told[c.Key] = c.Value; c.Gone {
						delete(told, c.Key)
					} else if c.Value != model[c.Key] {
						t.Fatalf("%s is said to be %d, and is %d", c.Key, c.Value, model[c.Key])
					}
				}
			},
			"": func(t *rapid.T) {
				n, bytes := s.Stats(), int64(0)
				if n.Entries > int64(limit.Entries) || n.Bytes > limit.Bytes {
					t.Fatalf("%+v over %+v", n, limit)
				}
				h := &s.shards[0]
				seen := 0
				for i := h.first; i != none; i = h.places[i].older {
					bytes += h.places[i].weight
					seen++
				}
				if bytes != n.Bytes || seen != len(h.index) {
					t.Fatalf("%d entries of %d bytes queue, %+v", seen, bytes, n)
				}
				for k := range h.index {
					if v, _, ok := s.Get(k); ok && v != model[k] {
						t.Fatalf("%s is %d, was put %d", k, v, model[k])
					}
				}
			},
		})
	})
}

func TestManyAtOnce(t *testing.T) {
	s := New(Options[int]{Limits: Limits{Entries: 4096}, Journal: true})
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 5000 {
				k := strconv.Itoa(i * (g + 1) % 6000)
				s.Put(k, i)
				s.Get(k)
				if i%100 == 0 {
					s.Delete(k)
					s.Changed(nil, 10)
				}
			}
		})
	}
	all.Wait()
	if n := s.Stats(); n.Entries > 4096 {
		t.Errorf("%+v", n)
	}
}

func TestWhatIsThereIsReplacedWithoutAllocation(t *testing.T) {
	s := New(Options[int]{Journal: true})
	s.Put("k", 1)
	if n := testing.AllocsPerRun(100, func() { s.Put("k", 2); s.Get("k") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPut(b *testing.B) {
	s := New(Options[int]{})
	keys := make([]string, 1<<17)
	for i := range keys {
		keys[i] = fmt.Sprint("customer-", i)
	}
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			s.Put(keys[i&(len(keys)-1)], i)
		}
	})
}
