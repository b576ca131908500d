package workload_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/workload"
	"github.com/spillway-dev/spillway/workload/dice"
)

// grammars are the parsers with texts they read, printed back as in the second
// column, and texts they refuse, with a part of what they then say.
var grammars = []struct {
	name    string
	parse   func(string) (interface{ String() string }, error)
	accepts [][2]string
	refuses [][2]string
}{
	{"rate", func(s string) (interface{ String() string }, error) { return workload.ParseRate(s) },
		[][2]string{
			{"2000", "2000"}, {"0", "0"}, {"0.5", "0.5"}, {"1e3", "1000"},
			{"100:60s,300:30s", "100:1m0s,300:30s"}, {" 100:60s , 300 ", "100:1m0s,300"},
		},
		[][2]string{
			{"", "no number of requests per second; write 2000"}, {"fast", "\"fast\" is no number"}, {"-1", "from 1e-06 to 1e+09"}, {"1e10", "from 1e-06 to 1e+09"}, {"1e-9", "from 1e-06"},
			{"NaN", "no number"}, {"Inf", "from 1e-06"}, {"100:60", "write it with a unit, like 100:60s"}, {"100:0s", "more than 0s"}, {"100:-1s", "more than 0s"},
			{"100,200", "only the last may go on for ever; write 100:60s"}, {"100:60s,", "no number"}, {"100:2000000h,1:2000000h", "longer than 292 years"},
		}},
	{"arrivals", func(s string) (interface{ String() string }, error) { return workload.ParseArrivals(s) },
		[][2]string{{"poisson", "poisson"}, {"constant", "constant"}, {"bursts:on=1s,off=9s", "bursts:on=1s,off=9s"}, {"bursts:off=9s,on=1s", "bursts:on=1s,off=9s"}},
		[][2]string{
			{"", "write poisson, constant or bursts"}, {"gamma", "write poisson"}, {"bursts", "write bursts:on=1s,off=9s"}, {"bursts:on=1s", "missing"}, {"bursts:on=1s,on=2s", "not expected"},
			{"bursts:on=0s,off=1s", "above 0s"}, {"bursts:on=1us,off=1s", "1ms or more"}, {"bursts:on=1,off=1s", "with a unit"}, {"bursts:on=1s,off=1s,x=1s", "not expected"},
		}},
	{"service", func(s string) (interface{ String() string }, error) { return workload.ParseService(s) },
		[][2]string{
			{"100ms", "100ms"}, {"exp:100ms", "exp:100ms"}, {"uniform:1s-2s", "uniform:1s-2s"}, {"trace", "trace"},
			{"lognormal:mean=100ms,p99=400ms", "lognormal:mean=100ms,p99=400ms"},
			{"mix:0.99*2.9ms,0.01*1.5s", "mix:0.99*2.9ms,0.01*1.5s"},
			{"mix:1*lognormal:mean=1ms,p99=4ms,2*exp:1s", "mix:1*lognormal:mean=1ms,p99=4ms,2*exp:1s"},
		},
		[][2]string{
			{"", "no length of time"}, {"100", "with a unit, like 100ms"}, {"-1s", "more than 0s"}, {"0s", "more than 0s"}, {"25h", "at most 24h"}, {"exp:", "no length"}, {"exp:0s", "more than 0s"},
			{"gamma:1s", "no law \"gamma\"; write 100ms"}, {"uniform:2s-1s", "the second must be more"}, {"uniform:1s", "write uniform:1s-2s"}, {"lognormal:mean=1s", "missing"},
			{"lognormal:mean=100ms,p99=2s", "from 1 to 14.9 times the mean"}, {"lognormal:mean=100ms,p99=50ms", "from 1 to 14.9 times"}, {"mix:", "not a share and a law"}, {"mix:0*1s", "above 0"},
			{"mix:-1*1s", "above 0"}, {"mix:1*mix:1*1s", "cannot be a part of a mix"}, {"mix:1*trace", "cannot be a part"}, {"mix:Inf*1s", "above 0"}, {"mix:2.9ms,1*1s", "not a share"},
		}},
	{"conditions", func(s string) (interface{ String() string }, error) { return workload.ParseConditions(s) },
		[][2]string{{"", ""}, {"x3@10s+5s", "x3@10s+5s"}, {"outage@20s+10s,x0.5@0s+1s", "outage@20s+10s,x0.5@0s+1s"}},
		[][2]string{
			{"x3", "write x3@10s+5s"}, {"x3@10s", "start+length"}, {"3@10s+5s", "write x3"}, {"x0@1s+1s", "write x3"}, {"x-1@1s+1s", "from 0.001"}, {"xNaN@1s+1s", "from 0.001"},
			{"slow@1s+1s", "neither"}, {"x3@-1s+5s", "0s or later"}, {"x3@1s+0s", "more than 0s"}, {"x1e6@0s+1s,x1e6@0s+1s", "multiply"}, {"x3@2000000h+2000000h", "0s or later"}, {"outage@1s+1s,", "neither"},
		}},
	{"mix", func(s string) (interface{ String() string }, error) { return workload.ParseMix(s) },
		[][2]string{{"acme=8,beta=1", "acme=8,beta=1"}, {"acme, beta", "acme=1,beta=1"}, {"a=0.5", "a=0.5"}},
		[][2]string{
			{"", "a name is missing"}, {"=1", "a name is missing"}, {"a=1,,b=1", "a name is missing"}, {"a=x", "no share of a; write a=8"}, {"a=0", "above 0"}, {"a=-1", "above 0"},
			{"a=NaN", "above 0"}, {"a=1,a=2", "named twice"}, {"a=1e308,b=1e308", "only their ratios matter"},
		}},
}

func TestGrammars(t *testing.T) {
	for _, g := range grammars {
		for _, c := range g.accepts {
			if got, err := g.parse(c[0]); err != nil || got.String() != c[1] {
				t.Errorf("%s %q is read as %q, %v; want %q", g.name, c[0], got, err, c[1])
			}
		}
		for _, c := range g.refuses {
			_, err := g.parse(c[0])
			if err == nil {
				t.Errorf("%s %q is accepted", g.name, c[0])
			} else if !strings.Contains(err.Error(), c[1]) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s %q: %q does not say %q in one line", g.name, c[0], err, c[1])
			}
		}
	}
}

// What a parser reads and prints, it reads again as the same.
func FuzzGrammars(f *testing.F) {
	for i, g := range grammars {
		for _, c := range g.accepts {
			f.Add(i, c[0])
		}
		for _, c := range g.refuses {
			f.Add(i, c[0])
		}
	}
	f.Fuzz(func(t *testing.T, which int, text string) {
		if which < 0 || which >= len(grammars) {
			return
		}
		g := grammars[which]
		first, err := g.parse(text)
		if err != nil {
			return
		}
		again, err := g.parse(first.String())
		if err != nil || again.String() != first.String() {
			t.Fatalf("%s %q prints as %q, which is read as %q, %v", g.name, text, first, again, err)
		}
		if s, is := first.(workload.Service); is {
			d := dice.New(1, "fuzz")
			for range 10 {
				if x := s.Draw(d); x < 0 || x == 0 && !s.Traced() {
					t.Fatalf("%q draws %v", text, x)
				}
			}
		}
	})
}

func TestRateAtAndExpected(t *testing.T) {
	r := must(workload.ParseRate("100:10s,300:5s"))
	for _, c := range []struct {
		at       time.Duration
		rate     float64
		expected float64
	}{{-1, 0, 0}, {0, 100, 0}, {10*time.Second - 1, 100, 1000}, {10 * time.Second, 300, 1000}, {15 * time.Second, 0, 2500}, {time.Hour, 0, 2500}} {
		if got := r.At(c.at); got != c.rate {
			t.Errorf("at %v the rate is %v, want %v", c.at, got, c.rate)
		}
		if got := r.Expected(c.at); math.Abs(got-c.expected) > 1e-3 {
			t.Errorf("until %v %v are expected, want %v", c.at, got, c.expected)
		}
	}
	if got := must(r.Times(0.5)).String(); got != "50:10s,150:5s" {
		t.Errorf("half of it is %s", got)
	}
	if r.Total() != 15*time.Second || must(workload.ParseRate("1:1s,2")).Total() != 0 {
		t.Error("Total is wrong")
	}
}

func TestServiceTimesHaveTheMeanTheySay(t *testing.T) {
	for _, text := range []string{"100ms", "exp:100ms", "uniform:1s-2s", "lognormal:mean=100ms,p99=400ms", "mix:0.99*2.9ms,0.01*1.5s", "mix:3*exp:1ms,1*uniform:1ms-9ms"} {
		s := must(workload.ParseService(text))
		d := dice.New(1, text)
		const n = 500_000
		sum, squares := 0.0, 0.0
		for range n {
			x := float64(s.Draw(d))
			sum += x
			squares += x * x
		}
		mean := sum / n
		bound := 5*math.Sqrt((squares/n-mean*mean)/n) + 2
		if math.Abs(mean-float64(s.Mean())) > bound {
			t.Errorf("%s: mean %v, says %v", text, time.Duration(mean), s.Mean())
		}
	}
}

func TestMixDrawsByShare(t *testing.T) {
	m := must(workload.ParseMix("acme=8,beta=1,gamma=1"))
	counts := make([]float64, 3)
	d := dice.New(1, "mix")
	for range 100_000 {
		counts[m.Draw(d)]++
	}
	for i, want := range []float64{80_000, 10_000, 10_000} {
		if math.Abs(counts[i]-want) > 5*math.Sqrt(want) {
			t.Errorf("%s was drawn %v times, want about %v", m.Shares()[i].Name, counts[i], want)
		}
	}
}

func TestConditionsAtAndFinish(t *testing.T) {
	c := must(workload.ParseConditions("x3@10s+5s,outage@20s+10s,x2@12s+1s"))
	for _, w := range []struct {
		at     time.Duration
		factor float64
		until  time.Duration
	}{
		{0, 1, 10 * time.Second}, {10*time.Second - 1, 1, 10 * time.Second}, {10 * time.Second, 3, 12 * time.Second}, {12 * time.Second, 6, 13 * time.Second},
		{14 * time.Second, 3, 15 * time.Second}, {15 * time.Second, 1, 20 * time.Second}, {25 * time.Second, 0, 30 * time.Second}, {30 * time.Second, 1, 0}, {time.Hour, 1, 0},
	} {
		if got := c.At(w.at); got.Factor != w.factor || got.Until != w.until || got.Out() != (w.factor == 0) {
			t.Errorf("at %v: %+v", w.at, got)
		}
	}
	for _, w := range []struct{ start, service, finish time.Duration }{
		{0, time.Second, time.Second},
		{9 * time.Second, 1500 * time.Millisecond, 11500 * time.Millisecond}, // 1 s, then 0.5 s at a third of the speed
		{19 * time.Second, 3 * time.Second, 32 * time.Second},                // stands still for 10 s
		{25 * time.Second, time.Second, 31 * time.Second},
		{time.Hour, time.Second, time.Hour + time.Second},
	} {
		if got := c.Finish(w.start, w.service); got != w.finish {
			t.Errorf("%v of work begun at %v finishes at %v, want %v", w.service, w.start, got, w.finish)
		}
	}
	if got := (workload.Conditions{}).At(5); got.Factor != 1 || got.Until != 0 {
		t.Errorf("nothing wrong: %+v", got)
	}
}
