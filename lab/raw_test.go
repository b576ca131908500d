package lab

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/report"
)

func TestRecordsAreNeverWrittenOver(t *testing.T) {
	dir := t.TempDir()
	if _, err := NewRecorder(dir, Plan{Lab: "x"}); err != nil {
		t.Fatal(err)
	}
	if _, err := NewRecorder(dir, Plan{Lab: "x"}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a second run into the same folder: %v", err)
	}
}

// The plan is on disk, and its hash in the records, before anything is played.
func TestThePlanIsWrittenFirst(t *testing.T) {
	dir := t.TempDir()
	r, err := NewRecorder(dir, Plan{Lab: "x", Predictions: []Prediction{Expect("a", "f", Is, 1, "one")}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "plan.json"))
	if err != nil || !strings.Contains(string(text), `"says": "one"`) {
		t.Errorf("plan.json: %s, %v", text, err)
	}
	if len(r.PlanSHA256()) != 64 {
		t.Errorf("hash %q", r.PlanSHA256())
	}
}

func TestNoRecorderKeepsNothing(t *testing.T) {
	var r *Recorder
	a, err := r.Arm("x")
	if err != nil || a != nil {
		t.Fatal(a, err)
	}
	a.Recognised(1, "x")
	a.Record(nil)
	a.Work(nil)
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if err := r.Results(nil); err != nil {
		t.Error(err)
	}
}

func TestJudge(t *testing.T) {
	arms := map[string]Figures{
		"a": {"f": 10, "g": 3, "none": report.None()},
		"b": {"f": 5},
	}
	for _, c := range []struct {
		name string
		p    Prediction
		want string
	}{
		{"equal", Expect("a", "f", Is, 10, ""), Held},
		{"not equal", Expect("a", "f", Is, 10.01, ""), Wrong},
		{"equal to six decimals", Expect("a", "f", Is, 10.0000001, ""), Held},
		{"at most", Expect("a", "f", AtMost, 10, ""), Held},
		{"more than at most", Expect("a", "f", AtMost, 9, ""), Wrong},
		{"at least", Expect("a", "f", AtLeast, 10, ""), Held},
		{"less than at least", Expect("a", "f", AtLeast, 11, ""), Wrong},
		{"twice another", Against("a", "f", Is, 2, "b", ""), Held},
		{"no such figure", Expect("a", "h", Is, 0, ""), Unknown},
		{"figure of nobody", Expect("a", "none", AtMost, 1, ""), Unknown},
		{"other arm lacks it", Against("a", "g", Is, 1, "b", ""), Unknown},
		{"all must hold", Prediction{Arm: "a", Figures: []string{"f", "g"}, Is: Is, Values: []report.Number{10, 4}}, Wrong},
		{"unknown outweighs wrong", Prediction{Arm: "a", Figures: []string{"f", "h"}, Is: Is, Values: []report.Number{1, 4}}, Unknown},
	} {
		got := Judge([]Prediction{c.p}, arms)
		if len(got) != 1 || got[0].Verdict != c.want {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
	if got := Judge([]Prediction{Expect("not played", "f", Is, 1, "")}, arms); len(got) != 0 {
		t.Errorf("an arm that was not played was judged: %+v", got)
	}
}

func TestFiguresAreTheNumbersOfTheJSON(t *testing.T) {
	got, err := FiguresOf(map[string]any{"a": map[string]any{"b": 1.5}, "list": []int{7, 8}, "word": "x", "none": nil})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 4 || got["a.b"] != 1.5 || got["list.1"] != 8 || !math.IsNaN(float64(got["none"])) {
		t.Errorf("%v", got)
	}
}

func TestAPredictionNeedsAValueForEachFigure(t *testing.T) {
	for _, p := range []Prediction{{Is: Is}, {Figures: []string{"f"}, Is: Is}, {Figures: []string{"f"}, Values: []report.Number{1}, Is: "~"}} {
		if _, err := Open("", Plan{Predictions: []Prediction{p}}); err == nil {
			t.Errorf("%+v was taken", p)
		}
	}
}
