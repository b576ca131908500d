package fallback

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/report"
)

// whole is every arm with the defaults, played once for all tests.
var whole = sync.OnceValues(func() (*Document, error) { return Run(Defaults(), "", report.Meta{}, nil) })

func wholeLab(t *testing.T) *Document {
	t.Helper()
	d, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestEveryPredictionHolds(t *testing.T) {
	d := wholeLab(t)
	if len(d.Verdicts) < 40 {
		t.Errorf("%d predictions", len(d.Verdicts))
	}
	for _, v := range d.Verdicts {
		if v.Verdict != lab.Held {
			t.Errorf("%s: %s: %v %s %v, measured %v", v.Arm, v.Says, v.Figures, v.Is, v.Values, v.Measured)
		}
	}
}

// What the experiment must reach, said without the predictions' help.
func TestTargets(t *testing.T) {
	d := wholeLab(t)
	between := func(what string, v report.Number, low, high float64) {
		t.Helper()
		if !(float64(v) >= low && float64(v) <= high) {
			t.Errorf("%s: %v, want %v to %v", what, v, low, high)
		}
	}
	med := func(arm string) *Round { return &d.Arms[arm].Median }
	for i, r := range d.Arms["H3-none"].Rounds {
		between("p99.5 of H3-none", r.P995Ms, 1200, 1700)
		between("dldown holds the store at most a third of dl's time", d.Arms["H3-dldown"].Rounds[i].StoreMsPerCall, 0, float64(d.Arms["H3-dl"].Rounds[i].StoreMsPerCall)/3)
	}
	between("p99 of H3-t25", med("H3-t25").P99Ms, 24, 28)
	between("p99 of H3-fb25", med("H3-fb25").P99Ms, 24, 28)
	between("p99 of H3-hedge", med("H3-hedge").P99Ms, 0, 0.7*float64(med("H3-fb25").P99Ms))
	between("calls of H3-hedge", med("H3-hedge").CallsPerRequest, 1.05, 1.09)
	between("stand-ins of H3-r2", med("H3-r2").StandIns, 0, 0)
	between("calls of H3-r2", med("H3-r2").CallsPerRequest, 1.01, 1.025)
	best := d.Ranking[0]
	if !best.Eligible || best.Tipped > 0 || best.Calls > 1.1 || best.NotAnswered > 0.001 {
		t.Errorf("best at 450/s: %+v", best)
	}
}

// The dice are the same in every arm of a rate: requests and freezes.
func TestArmsMeetTheSameRequests(t *testing.T) {
	d := wholeLab(t)
	for _, prefix := range []string{"H3-", "H4-"} {
		first := d.Arms[prefix+"fb25"]
		for _, name := range d.ArmOrder {
			if !strings.HasPrefix(name, prefix) {
				continue
			}
			for i, r := range d.Arms[name].Rounds {
				if f := first.Rounds[i]; r.Requests != f.Requests || r.Freezes != f.Freezes {
					t.Errorf("%s, round %d: %v requests and %v freezes; %sfb25 has %v and %v", name, i+1, r.Requests, r.Freezes, prefix, f.Requests, f.Freezes)
				}
			}
		}
	}
}

// Retry storm: without a budget one bad second becomes a flood that stays, in a
// clear share of rounds; with one, or with limits that go along, in none.
func TestTipping(t *testing.T) {
	o := Defaults()
	o.Rounds = TippingRounds
	o.Arms = []string{"H4-fb25", "H4-r2", "H4-r2-b10", "H4-r2-limitdown-b10", "H4-r2-dldown-b10"}
	if testing.Short() {
		o.Rounds = 25
	}
	d, err := Run(o, "", report.Meta{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range o.Arms {
		tip := d.Tipping[name]
		if tip.Rounds != o.Rounds {
			t.Errorf("%s: %d rounds", name, tip.Rounds)
		}
		switch {
		case name == "H4-r2" && (tip.Low < 0.05 || tip.Share > 0.6):
			t.Errorf("%s tipped in %d of %d rounds (%v to %v): want a clear share", name, tip.Tipped, tip.Rounds, tip.Low, tip.High)
		case name != "H4-r2" && tip.Tipped > 0:
			t.Errorf("%s tipped in %d of %d rounds, want none", name, tip.Tipped, tip.Rounds)
		}
	}
	flood, calm := d.Timeline["H4-r2"], d.Timeline["H4-fb25"]
	if !d.TimelineTipped || len(flood) != 30 || len(calm) != 30 {
		t.Fatalf("timelines of %d and %d s", len(flood), len(calm))
	}
	last, besides := flood[29], calm[29]
	if last.Calls < 2*last.Offered || 2*last.StandIns < last.Offered || last.Waiting < 500 || last.Busy < 15 {
		t.Errorf("the last second of a flood: %+v", last)
	}
	if besides.Calls > besides.Offered+5 || besides.StandIns > besides.Offered/4 || besides.Offered != last.Offered {
		t.Errorf("the same second without retries: %+v", besides)
	}
}

func TestWilson(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64 // of tables
	}{{0, 100, 0, 0.0370}, {26, 100, 0.1840, 0.3537}, {5, 5, 0.5655, 1}, {1, 5, 0.0362, 0.6245}, {50, 100, 0.4038, 0.5962}} {
		low, high := wilson(c.k, c.n)
		if math.Abs(float64(low)-c.low) > 1e-4 || math.Abs(float64(high)-c.high) > 1e-4 {
			t.Errorf("%d of %d: %v to %v, want %v to %v", c.k, c.n, low, high, c.low, c.high)
		}
	}
	if low, _ := wilson(0, 0); low.Known() {
		t.Error("a range of nothing")
	}
}

// A verdict needs every round on one side, of three or more.
func TestVerdictsOnTwoArms(t *testing.T) {
	arm := func(p99 ...float64) *Result {
		r := &Result{}
		for _, v := range p99 {
			r.Rounds = append(r.Rounds, Round{P99Ms: report.Number(v)})
		}
		r.Median = medianOf(r.Rounds)
		return r
	}
	for _, c := range []struct {
		a, b *Result
		want string
	}{
		{arm(1, 2, 3), arm(2, 3, 4), ClearlyLower},
		{arm(5, 6, 7), arm(2, 3, 4), ClearlyHigher},
		{arm(1, 2, 5), arm(2, 3, 4), TooClose},
		{arm(1, 2, 4), arm(2, 3, 4), TooClose},
		{arm(1, 2), arm(2, 3), TooClose},
	} {
		v := Comparison{Figure: "p99_ms"}
		if v.judge(c.a, c.b); v.Verdict != c.want {
			t.Errorf("%+v: want %s", v, c.want)
		}
	}
	for _, c := range comparisons() { // each names figures that there are
		figureOf(&Round{}, c.Figure)
	}
}

// A p99 that sits at the rate of the event that it measures is not relied on;
// p99.5 is well inside.
func TestAP99ThatIsACoinFlipIsWarnedOf(t *testing.T) {
	d := wholeLab(t)
	if w := d.Arms["H3-none"].Warnings; len(w) != 1 || !strings.Contains(w[0], "read p99.5") {
		t.Errorf("H3-none: %v", w)
	}
	for _, arm := range []string{"F3-none", "H3-fb25", "H3-hedge"} {
		if w := d.Arms[arm].Warnings; len(w) > 0 {
			t.Errorf("%s: %v", arm, w)
		}
	}
}

// The steps of the slowest add up to what they took.
func TestStepsAddUp(t *testing.T) {
	d := wholeLab(t)
	for _, name := range d.ArmOrder {
		for _, r := range d.Arms[name].Rounds {
			s := r.Steps
			if sum := s.Sender + s.Earlier + s.Line + s.Slot + s.Rest; math.Abs(float64(sum-r.Slowest)) > 1e-6 {
				t.Errorf("%s: steps add up to %v, the slowest 1 %% took %v", name, sum, r.Slowest)
			}
		}
	}
}

func TestAFrozenLookupIsFollowed(t *testing.T) {
	f := wholeLab(t).Frozen
	if f == nil || f.DrawnMs < 1000 || len(f.Arms) < 5 {
		t.Fatalf("followed: %+v", f)
	}
	what := func(arm string) string {
		var words []string
		for _, e := range f.Arms[arm] {
			words = append(words, e.What)
		}
		return strings.Join(words, " ")
	}
	for arm, want := range map[string]string{
		"H3-none":   "arrives begins sent slot used decided served",
		"H3-fb25":   "arrives begins sent slot decided stand_in late",
		"H3-dldown": "arrives begins sent slot stopped decided stand_in",
		"H3-r2":     "arrives begins sent slot sent slot used decided served late",
	} {
		if got := what(arm); got != want {
			t.Errorf("%s: %s, want %s", arm, got, want)
		}
	}
}

func TestAnArmOfOnesOwn(t *testing.T) {
	o := Defaults()
	own := Base(&o, "H3", "mine")
	own.Rate, own.LimitMs, own.Retries, own.Budget, own.Otherwise = 450, 25, 2, "10%", "stand_in"
	o.Own, o.Seconds, o.Rounds = &own, 5, 2
	d, err := Run(o, "", report.Meta{}, nil)
	if err != nil || d.Arms[OwnName] == nil || len(d.Arms) != 1 || len(d.Findings) == 0 {
		t.Fatalf("%+v, %v", d, err)
	}
}

func TestOptionsThatAreWrong(t *testing.T) {
	own := func(change func(*Setting)) func(*Options) {
		return func(o *Options) {
			s := Base(o, "H3", "mine")
			change(&s)
			o.Own = &s
		}
	}
	for want, change := range map[string]func(*Options){
		"rounds":               func(o *Options) { o.Rounds = 0 },
		"seconds":              func(o *Options) { o.Seconds = math.NaN() },
		"the arms are F3-none": func(o *Options) { o.Arms = []string{"H3-nonne"} },
		"leave it out":         func(o *Options) { own(func(*Setting) {})(o); o.Arms = []string{"H3-none"} },
		"write F":              own(func(s *Setting) { s.Waits = "X" }),
		"lower --rate":         own(func(s *Setting) { s.Rate = 1e9 }),
		"rate of 0":            own(func(s *Setting) { s.Rate = 0 }),
		"0 slots":              own(func(s *Setting) { s.Slots = 0 }),
		"--hedge":              own(func(s *Setting) { s.HedgeMs = -1 }),
		"--pass-deadline":      own(func(s *Setting) { s.Travels = true }),
		"ever be tried again":  own(func(s *Setting) { s.Retries = 1 }),
		"--retries 101":        own(func(s *Setting) { s.LimitMs, s.Retries = 25, 101 }),
		"write 10%":            own(func(s *Setting) { s.Budget = "some" }),
	} {
		o := Defaults()
		change(&o)
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v does not say %q in one line", err, want)
		}
	}
}

// The same seed gives the same bytes, on however many processors.
func TestSameSeedSameBytes(t *testing.T) {
	text := func() []byte {
		o := Defaults()
		o.Arms, o.Rounds, o.Seconds = []string{"H3-r2bj", "H4-fb25", "H4-r2", "H4-all"}, 3, 10
		d, err := Run(o, "", report.Meta{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := report.WriteJSON(&b, d); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	if !bytes.Equal(text(), text()) {
		t.Error("two runs of one seed differ")
	}
}

// The field names are the contract.
func TestTheJSONIsTheContract(t *testing.T) {
	text, err := json.Marshal(wholeLab(t))
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Mode     string                                  `json:"mode"`
		Seed     *int                                    `json:"seed"`
		Arms     map[string]map[string]json.RawMessage   `json:"arms"`
		Tipping  map[string]map[string]float64           `json:"tipping"`
		Timeline map[string][]map[string]json.RawMessage `json:"timeline"`
		Findings []string                                `json:"findings"`
		Frozen   map[string]json.RawMessage              `json:"frozen"`
		Verdicts []map[string]json.RawMessage            `json:"predictions"`
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if d.Mode != "virtual" || d.Seed == nil || len(d.Findings) == 0 || len(d.Verdicts) == 0 || d.Frozen == nil {
		t.Errorf("mode %q, seed %v, %d findings", d.Mode, d.Seed, len(d.Findings))
	}
	figures := strings.Fields(`requests freezes p50_ms p99_ms p995_ms max_ms slowest_1pct_mean_ms stand_in_share error_share
		false_timeout_share calls_per_request store_ms_per_call max_waiting tipped`)
	has := func(where string, text json.RawMessage) {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		for _, name := range figures {
			if _, there := fields[name]; !there {
				t.Errorf("%s has no %s", where, name)
			}
		}
	}
	for name, arm := range d.Arms {
		has(name+" median", arm["median"])
		var rounds []json.RawMessage
		if err := json.Unmarshal(arm["rounds"], &rounds); err != nil || len(rounds) != 5 {
			t.Errorf("%s: %d rounds, %v", name, len(rounds), err)
		}
		for _, r := range rounds {
			has(name, r)
		}
	}
	for _, name := range strings.Fields("F3-none L3-none H3-none H3-t10 H3-t25 H3-t50 H3-t100 H3-fb25 H3-dl H3-dldown H3-r2 H3-r2b H3-r2bj H3-hedge L3-hedge L3-t25 H4-fb25 H4-dldown H4-r2 H4-r2b H4-r2bj") {
		if d.Arms[name] == nil {
			t.Errorf("no arm %s", name)
		}
	}
	for _, name := range []string{"rounds", "tipped", "low", "high"} {
		if _, there := d.Tipping["H4-r2"][name]; !there {
			t.Errorf("tipping has no %s", name)
		}
	}
	if len(d.Timeline["H4-r2"]) != 30 || len(d.Timeline["H4-fb25"]) != 30 {
		t.Errorf("timelines of %d and %d s", len(d.Timeline["H4-r2"]), len(d.Timeline["H4-fb25"]))
	}
}

// Nothing is counted twice or lost: reasons add up to the requests of all rounds,
// a timeline to those of its round.
func TestSumsClose(t *testing.T) {
	d := wholeLab(t)
	for _, name := range d.ArmOrder {
		r := d.Arms[name]
		requests := 0.0
		for _, one := range r.Rounds {
			requests += float64(one.Requests)
		}
		if float64(r.Reasons.Sum()) != requests {
			t.Errorf("%s: reasons of %d, requests %v", name, r.Reasons.Sum(), requests)
		}
	}
	for name, seconds := range d.Timeline {
		offered := 0
		for _, s := range seconds {
			offered += s.Offered
		}
		one, _, err := d.setting(name).playRound(d.Seed, d.TimelineRound-1, figuresOnly)
		if err != nil || float64(one.Requests) != float64(offered) {
			t.Errorf("%s: the timeline has %d requests, the round %v; %v", name, offered, one.Requests, err)
		}
	}
	if !slices.IsSortedFunc(d.Ranking, func(a, b Defence) int {
		if a.Eligible == b.Eligible {
			return 0
		}
		if a.Eligible {
			return -1
		}
		return 1
	}) {
		t.Error("a defence that is not eligible stands before one that is")
	}
}

// The page asks, predicts, finds and draws the flood.
func TestThePage(t *testing.T) {
	var b bytes.Buffer
	if err := wholeLab(t).Page().Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Question", "Predictions", "Written before the first round", "Every arm", "A flood, second by second", "Waiting in the store", "Slots held",
		"Share of rounds that tip", "The slowest 1 % of requests, in steps", "Defences at 450/s, best first", "What was not tested", "Added after the results were seen"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
