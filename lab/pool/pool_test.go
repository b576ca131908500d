package pool

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/workload"
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
	for _, v := range wholeLab(t).Verdicts {
		if v.Verdict != lab.Held {
			t.Errorf("%s: %s: %v %s %v, measured %v", v.Arm, v.Says, v.Figures, v.Is, v.Values, v.Measured)
		}
	}
}

func TestSumsCloseInEveryArm(t *testing.T) {
	d := wholeLab(t)
	for _, name := range d.ArmOrder {
		if err := d.Arms[name].Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whoever the pool refuses, every task is either through all stages or turned
// away at one; what a stage served is what the next was offered.
func TestStagesPassOnWhatTheyServe(t *testing.T) {
	r := wholeLab(t).Arms["full-block"]
	turned := int64(0)
	for i, st := range r.Stages {
		if sum := st.Reasons.Sum(); sum != st.Offered {
			t.Errorf("stage %s was offered %d, its reasons add up to %d", st.Name, st.Offered, sum)
		}
		if i+1 < len(r.Stages) && st.Reasons["served"] != r.Stages[i+1].Offered {
			t.Errorf("stage %s served %d, the next was offered %d", st.Name, st.Reasons["served"], r.Stages[i+1].Offered)
		}
		turned += st.Offered - st.Reasons["served"]
	}
	if last := r.Stages[len(r.Stages)-1]; r.Offered != last.Reasons["served"]+turned {
		t.Errorf("%d offered, %d through, %d turned away", r.Offered, last.Reasons["served"], turned)
	}
}

// The flood changes nothing at all for checkout: not one figure.
func TestAPoolAClassKeepsTheFloodOut(t *testing.T) {
	d := wholeLab(t)
	alone, beside := new(bytes.Buffer), new(bytes.Buffer)
	for _, arm := range []string{"checkout-alone", "pools"} {
		of := *d.Arms[arm].Classes["checkout"]
		of.IdleWhileRefusingS = report.None() // of analytics' slots, not its own
		d.Arms[arm].Classes["checkout"] = &of
	}
	if err := report.WriteJSON(alone, d.Arms["checkout-alone"].Classes["checkout"]); err != nil {
		t.Fatal(err)
	}
	if err := report.WriteJSON(beside, d.Arms["pools"].Classes["checkout"]); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(alone.Bytes(), beside.Bytes()) {
		t.Errorf("checkout alone\n%s\nbeside the flood\n%s", alone, beside)
	}
}

func TestNestedLayersMultiply(t *testing.T) {
	for _, c := range []struct {
		layers []int
		want   int
	}{{nil, 1}, {[]int{3}, 3}, {[]int{3, 3, 3}, 27}, {[]int{2, 5}, 10}} {
		if got := tries(c.layers); got != c.want {
			t.Errorf("layers %v make %d calls, want %d", c.layers, got, c.want)
		}
	}
	d := wholeLab(t)
	if got, plan := d.Arms["nested-27"].CallsPerCaller, float64(d.Plan.AmplificationMax); got != 27 || plan != 27 {
		t.Errorf("simulated %v calls, planned %v", got, plan)
	}
}

// A pool as slow in reality as in the plan, with other figures and a law that
// varies: the predictions that do not depend on them still hold.
func TestOtherFigures(t *testing.T) {
	o := Defaults()
	law, err := workload.ParseService("exp:50ms")
	if err != nil {
		t.Fatal(err)
	}
	o.Service, o.Slots, o.Rate, o.Seconds = law, 16, 200, 5
	d, err := Run(o, "", report.Meta{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if held, wrong, _ := d.Judged(); wrong > 0 || held < 4 {
		t.Errorf("%s: %+v", d.Score(), d.Verdicts)
	}
}

// The JSON's fields are a contract: the golden file holds those of one arm.
func TestTheJSONIsTheContract(t *testing.T) {
	o := Defaults()
	o.Arms, o.Seconds = []string{"full-block", "bound-derived", "outward-balancer", "full-persist"}, 2
	d, err := Run(o, "", report.Meta{Version: "test", Command: "spillway lab pool"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := report.WriteJSON(&got, d); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "arms.golden.json")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("lab pool --json is now\n%s\nUPDATE=1 go test ./lab/pool writes it anew", &got)
	}
}

func TestWhatTheOptionsMayBe(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"rate":           func(o *Options) { o.Rate = 0 },
		"slots":          func(o *Options) { o.Slots = 3 },
		"budget":         func(o *Options) { o.Budget = o.Service.Mean() },
		"service":        func(o *Options) { o.Service = workload.FromTrace() },
		"seconds":        func(o *Options) { o.Seconds = 0 },
		"too much":       func(o *Options) { o.Rate, o.Seconds = 1e6, 3600 },
		"unknown arm":    func(o *Options) { o.Arms = []string{"bound-best"} },
		"only later arm": func(o *Options) { o.Arms = []string{"full-persist"} },
	} {
		o := Defaults()
		change(&o)
		if err := o.Check(); err == nil {
			t.Errorf("%s: %+v was taken", name, o)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: more than one line: %v", name, err)
		}
	}
}

// reason's own idea of what is refused before a wait is what lab verify keeps a
// list of; a new reason must be entered there.
func TestReasonsAtAdmissionAreThoseThatVerifyKnows(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "verify", "traffic.go"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range reason.Count {
		r := reason.Reason(i)
		if listed := strings.Contains(string(text), `"`+r.String()+`"`) && r != reason.Served; listed != r.AtAdmission() {
			t.Errorf("%v: at admission %v, in verify's list %v", r, r.AtAdmission(), listed)
		}
	}
}

// Whatever the copies shed, the balancer sends each request to one of them, and
// to those that are ready alone unless none is.
func TestTheBalancerSendsToCopiesThatAreReady(t *testing.T) {
	var all []workload.Arrival
	for i := range 60 {
		all = append(all, workload.Arrival{N: int64(i)})
	}
	for name, c := range map[string]struct {
		ready []bool
		want  [3]int
	}{
		"all":  {[]bool{true, true, true}, [3]int{20, 20, 20}},
		"two":  {[]bool{true, false, true}, [3]int{30, 0, 30}},
		"one":  {[]bool{false, false, true}, [3]int{0, 0, 60}},
		"none": {[]bool{false, false, false}, [3]int{20, 20, 20}},
	} {
		b := &balancer{Source: workload.Slice(all), copies: []workload.Name{1, 2, 3}, is: c.ready}
		var got [3]int
		for a := (workload.Arrival{}); b.Next(&a); {
			got[a.Class-1]++
		}
		if got != c.want {
			t.Errorf("%s ready: requests went %v, want %v", name, got, c.want)
		}
	}
}
