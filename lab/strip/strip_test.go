package strip

import (
	"bytes"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/lab/strip/text"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/test/need"
)

// short is a table of few arms, judged for two seconds.
func short(policies ...string) Options {
	o := Defaults()
	o.Policies, o.Loads, o.Seconds, o.Only = policies, []float64{1.5}, 2, true
	return o
}

func runOf(t testing.TB, o Options) *Document {
	t.Helper()
	d, err := Run(o, "", report.Meta{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// On the bundled text: what does not fit is shed, what fits is served, in time and
// without flips; the least is lost by the measured gap; a queue is of no use.
func TestTheOrderOfPolicies(t *testing.T) {
	d := runOf(t, short("queue", "random", "prefix", "gap"))
	by := map[string]*Result{}
	for _, r := range d.Runs {
		by[r.Policy] = r
	}
	g := by["gap"]
	if math.Abs(float64(g.ShedShare-g.IdealShare)) > 0.02 || g.OnTimeShare < 0.999 || float64(g.PersonalisedPerS) < 0.98*8000 {
		t.Errorf("shed %v (ideal %v), in time %v, in full %v/s", g.ShedShare, g.IdealShare, g.OnTimeShare, g.PersonalisedPerS)
	}
	if g.FlipsInWord != 0 || g.Failed != 0 || math.Abs(float64(g.ShedForLoad+report.Number(g.Answered["personalised"])/(2*g.OfferedPerS)-1)) > 0.001 {
		t.Errorf("%d flips in words, failed %v, shed for load %v of %v", g.FlipsInWord, g.Failed, g.ShedForLoad, g.Answered)
	}
	if !(g.Hit > by["prefix"].Hit && by["prefix"].Hit > by["random"].Hit && by["random"].Hit > by["queue"].Hit) {
		t.Errorf("hits: gap %v, prefix %v, random %v, queue %v", g.Hit, by["prefix"].Hit, by["random"].Hit, by["queue"].Hit)
	}
	if by["queue"].OnTimeShare > 0.01 || by["random"].FlipsInWord < 1000 {
		t.Errorf("a queue has %v in time, random flips %d times in words", by["queue"].OnTimeShare, by["random"].FlipsInWord)
	}
	if _, wrong, unknown := d.Judged(); wrong+unknown > 0 {
		t.Error(d.Score(), lab.Notes(&d.Results))
	}
}

// At five times the load the order is the same.
func TestTheOrderAtFiveTimesTheLoad(t *testing.T) {
	o := short("queue", "deadline", "random", "session", "prefix", "gap")
	o.Loads, o.Slots = []float64{5}, 16
	d := runOf(t, o)
	against := 0
	for _, v := range d.Verdicts {
		if v.Than == "" {
			continue
		}
		against++
		if v.Verdict != lab.Held {
			t.Errorf("%s: %s: %v, %v times that of %s was predicted", v.Arm, v.Says, v.Measured, v.Values, v.Than)
		}
	}
	if against != 5 {
		t.Errorf("gap is compared with %d policies, want all five", against)
	}
}

// The figures that were promised, on the messages of real writers.
func TestWhatWasPromisedOnRecordedText(t *testing.T) {
	o := short("session", "random", "prefix", "gap")
	o.Text = filepath.Dir(filepath.Dir(need.Data(t, "typing/sms_tokens.jsonl.gz")))
	need.Data(t, "words/en_50k.txt")
	o.Seconds = 5
	if raced { // the same promises, fewer arms
		o.Policies, o.Seconds = []string{"random", "gap"}, 2
	}
	d := runOf(t, o)
	g, random := d.mean("gap", 1.5), d.mean("random", 1.5)
	if g.personal < 0.99*8000 || math.Abs(g.shed-g.ideal) > 0.01 || g.onTime < 0.999 || g.p99 > 50 || g.flipsInWord > 0 || g.flips > 0.001 {
		t.Errorf("gap: %+v", *g)
	}
	if lost := (g.all - g.hit) / (random.all - random.hit); lost > 0.25 {
		t.Errorf("gap loses %.3f of what random loses, want a quarter at the most", lost)
	}
	for _, other := range []string{"session", "random", "prefix"} {
		if m := d.mean(other, 1.5); m != nil && m.hit >= g.hit {
			t.Errorf("%s hits %.4f, gap %.4f", other, m.hit, g.hit)
		}
	}
}

// The same seed gives the same bytes, another one others.
func TestTheSameSeedGivesTheSameBytes(t *testing.T) {
	o := short("gap")
	o.Seconds = 1
	document := func(seed uint64) []byte {
		o.Seed = seed
		var b bytes.Buffer
		if err := report.WriteJSON(&b, runOf(t, o)); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	one := document(1)
	if !bytes.Equal(one, document(1)) {
		t.Error("twice the same seed, and other bytes")
	}
	if bytes.Equal(one, document(2)) {
		t.Error("another seed, and the same bytes")
	}
}

// material of the bundled text, made once.
func bundled(t testing.TB) *material {
	t.Helper()
	c, err := text.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	return newMaterial(c)
}

// What a keystroke says of its gap never rises along its word.
func TestGapsNeverRiseAlongAWord(t *testing.T) {
	m := bundled(t)
	words := 0
	for _, w := range m.writers {
		for _, s := range w {
			for i := 1; i < len(s); i++ {
				if s[i].word != s[i-1].word {
					words++
				} else if s[i].gap > s[i-1].gap || s[i].prefix != s[i-1].prefix+1 {
					t.Fatalf("letter %d of a word: a gap of %d after %d", s[i].prefix, s[i].gap, s[i-1].gap)
				}
			}
		}
	}
	if words < 1000 {
		t.Errorf("%d words were looked at", words)
	}
}

// As many type as make the load, in order of time; a key in a hundred twice.
func TestTheLoadIsTyped(t *testing.T) {
	m := bundled(t)
	for _, load := range []float64{0.3, 1.5} {
		o := Defaults()
		s := o.arm("gap", load, 3)
		var last time.Duration
		half, full, again := 0, 0, 0
		for _, k := range m.typing(&s) {
			if k.at < last {
				t.Fatalf("a key at %v after one at %v", k.at, last)
			}
			last = k.at
			half += int(one(k.at >= time.Second && k.at < 2*time.Second))
			full += int(one(k.at >= sec(s.FromS)))
			again += int(one(k.at >= sec(s.FromS) && k.again))
		}
		if got := float64(full) / 10 / 8000; math.Abs(got-load) > 0.03*load {
			t.Errorf("%vx: %.3f times the capacity is typed", load, got)
		}
		if got := float64(half) / 8000; math.Abs(got-0.5) > 0.06 {
			t.Errorf("%vx: before it %.3f times the capacity, want a half", load, got)
		}
		if got := float64(again) / float64(full); math.Abs(got-0.01) > 0.002 {
			t.Errorf("%vx: %.4f of the keys are typed again", load, got)
		}
	}
}

func TestWhatIsNoSetting(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"seeds":        func(o *Options) { o.Seeds = 0 },
		"slots":        func(o *Options) { o.Slots = 5000 },
		"service time": func(o *Options) { o.Service = 0 },
		"a deadline":   func(o *Options) { o.Deadline = o.Service },
		"a load":       func(o *Options) { o.Loads = []float64{math.NaN()} },
		"no loads":     func(o *Options) { o.Loads = nil },
		"one of queue": func(o *Options) { o.Policies = []string{"best"} },
		"there twice":  func(o *Options) { o.Policies = []string{"gap", "gap"} },
		"seconds":      func(o *Options) { o.Seconds = 0 },
	} {
		o := Defaults()
		change(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want one with %q", err, want)
		}
	}
}

func TestTurns(t *testing.T) {
	for _, c := range []struct {
		course []float64
		want   int64
	}{
		{nil, 0}, {[]float64{0.3, 0.3}, 0}, {[]float64{0.3, 0.2, 0.1, 0}, 0}, {[]float64{0.3, 0.2, 0.22, 0.1}, 0},
		{[]float64{0.3, 0.2, 0.3}, 1}, {[]float64{0.3, 0.2, 0.3, 0.2}, 2}, {[]float64{0.1, 0.2, 0.1, 0.2}, 2}, {[]float64{0.3, 0.28, 0.26, 0.3}, 1},
	} {
		if got := turns(c.course); got != c.want {
			t.Errorf("%v: %d turns, want %d", c.course, got, c.want)
		}
	}
}
