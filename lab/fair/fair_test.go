package fair

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/report"
)

func play(t *testing.T, p Plan) *Document {
	t.Helper()
	d, err := Run(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The table is known exactly, whatever the predictions in the code say.
func TestTheTableIsExact(t *testing.T) {
	d := play(t, WholeTable(1, false))
	for _, want := range []struct {
		arm               string
		completed         [3]int64
		rejected, expired int64
		peak              int64
		history           []int64
	}{
		{"fifo", [3]int64{12, 0, 0}, 18, 12, 24, []int64{21, 18, 15, 0, 0, 0, 0, 0, 0, 0}},
		{"priority", [3]int64{0, 6, 6}, 18, 12, 24, []int64{21, 18, 15, 0, 0, 0, 0, 0, 0, 0}},
		{"rr", [3]int64{4, 4, 4}, 18, 12, 24, []int64{21, 18, 15, 0, 0, 0, 0, 0, 0, 0}},
		{"wrr", [3]int64{6, 3, 3}, 18, 12, 24, []int64{21, 18, 15, 0, 0, 0, 0, 0, 0, 0}},
		{"wrr-2-copies", [3]int64{6, 3, 3}, 78, 12, 24, []int64{21, 18, 15, 0, 0, 0, 0, 0, 0, 0}},
		{"wrr-1s", [3]int64{2, 1, 0}, 18, 21, 24, []int64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
		{"wrr-6-slots", [3]int64{12, 6, 6}, 18, 0, 24, []int64{18, 12, 6, 0, 0, 0, 0, 0, 0, 0}},
		{"drr", [3]int64{6, 3, 3}, 18, 12, 24, []int64{21, 18, 15, 0, 0, 0, 0, 0, 0, 0}},
		{"wrr-same-key", [3]int64{6, 3, 3}, 18, 12, 24, []int64{21, 18, 15, 0, 0, 0, 0, 0, 0, 0}},
	} {
		r := d.Arms[want.arm]
		got := [3]int64{r.Completed["A"], r.Completed["B"], r.Completed["C"]}
		if got != want.completed || r.Rejected.Sum() != want.rejected || r.Expired.Sum() != want.expired ||
			r.PeakQueue != want.peak || !slices.Equal(r.QueueHistory, want.history) {
			t.Errorf("%s: completed %v, rejected %d, expired %d, peak %d, history %v; want %+v",
				want.arm, got, r.Rejected.Sum(), r.Expired.Sum(), r.PeakQueue, r.QueueHistory, want)
		}
	}
	if n := d.Arms["wrr-same-key"].Recognised["A"]; n != 60 {
		t.Errorf("%d retries were recognised by their keys, want 60", n)
	}
	if held, wrong, unknown := d.Judged(); wrong != 0 || unknown != 0 || held != len(TablePredictions()) {
		t.Errorf("predictions of the table: %s", d.Score())
	}
}

// What was predicted beyond the table holds, but for the one that was wrong
// and stays.
func TestBeyondTheTable(t *testing.T) {
	d := play(t, WholeTable(1, true))
	for _, v := range d.Verdicts {
		want := lab.Held
		if v.Arm == "random-fifo" {
			want = lab.Wrong
		}
		if v.Verdict != want {
			t.Errorf("%s: %s: %v %s %v, measured %v: %s, want %s", v.Arm, v.Says, v.Figures, v.Is, v.Values, v.Measured, v.Verdict, want)
		}
	}
}

// The fields are a contract: this file changes only with labs' documentation.
func TestTheJSONIsTheContract(t *testing.T) {
	o := Defaults()
	p, err := One(o, 1)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := report.WriteJSON(&got, play(t, p)); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "wrr.golden.json")
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
		t.Errorf("lab fair --policy wrr --json is now\n%s\nUPDATE=1 go test ./lab/fair writes it anew", &got)
	}
}

func TestWhatTheOptionsMayBe(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"policy":   func(o *Options) { o.Policy = "lottery" },
		"burst":    func(o *Options) { o.Burst = 61 },
		"negative": func(o *Options) { o.Burst = -1 },
		"slots":    func(o *Options) { o.Slots = 0 },
		"deadline": func(o *Options) { o.DeadlineS = 0.5 },
		"copies":   func(o *Options) { o.RetryCopies = 3 },
		"tenant":   func(o *Options) { o.Weights = map[string]int{"D": 1} },
		"weight":   func(o *Options) { o.Weights = map[string]int{"A": 0} },
	} {
		o := Defaults()
		change(&o)
		if _, err := One(o, 1); err == nil {
			t.Errorf("%s: %+v was taken", name, o)
		}
	}
}

// Every combination of the options closes its sums; play checks them against
// the machine's own account.
func TestSumsCloseWhateverTheOptions(t *testing.T) {
	for _, policy := range []string{"fifo", "priority", "rr", "wrr", "drr"} {
		for _, burst := range []int{0, 1, 12, 13, 60} {
			for slots := 1; slots <= 6; slots += 5 {
				for _, deadline := range []float64{1, 2.5} {
					o := Defaults()
					o.Policy, o.Burst, o.Slots, o.DeadlineS, o.RetryCopies = policy, burst, slots, deadline, burst%3
					p, err := One(o, 1)
					if err != nil {
						t.Fatal(err)
					}
					r := play(t, p).Result
					if most := int64(o.Slots) * int64(deadline+0.999); r.Completed.Sum() > most {
						t.Errorf("%+v: %d completed, %d could start before the deadline", o, r.Completed.Sum(), most)
					}
				}
			}
		}
	}
}

// What the records say is held against the machine's own account.
func TestAnAccountThatDoesNotCloseIsFound(t *testing.T) {
	p, err := One(Defaults(), 1)
	if err != nil {
		t.Fatal(err)
	}
	r := play(t, p).Result
	machine := boundary.ClassState{}
	machine.Tally.Offered = 42
	machine.Tally.Answered[reason.Served], machine.Tally.Answered[reason.Expired] = 12, 12
	if err := r.check(&machine); err != nil {
		t.Errorf("the table's own account: %v", err)
	}
	machine.Tally.Answered[reason.Expired]--
	if r.check(&machine) == nil {
		t.Error("the machine counts one less and nobody sees it")
	}
	machine.Tally.Answered[reason.Expired]++
	r.Rejected["A"]--
	if r.check(&machine) == nil {
		t.Error("a rejected job is lost and nobody sees it")
	}
}
