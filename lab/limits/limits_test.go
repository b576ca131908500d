package limits

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/report"
)

// small is a part of the table, played once for all tests.
var small = sync.OnceValues(func() (*Document, error) {
	p, err := Table(Options{Laws: []string{"knee", "aimd"}, Scenarios: []string{"steps", "surge"}, Quick: true}, 1)
	if err != nil {
		return nil, err
	}
	return Run(p, nil)
})

func played(t *testing.T) *Document {
	t.Helper()
	d, err := small()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestEveryPredictionHolds(t *testing.T) {
	for _, v := range played(t).Verdicts {
		if v.Verdict != lab.Held {
			t.Errorf("%s: %s: %v %s %v, measured %v", v.Arm, v.Says, v.Figures, v.Is, v.Values, v.Measured)
		}
	}
}

// Every processor must come to these very bytes.
func TestFiguresAreTheSameBytes(t *testing.T) {
	var got bytes.Buffer
	if err := report.WriteJSON(&got, played(t)); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "quick.golden.json")
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
		t.Errorf("lab limits --quick --laws knee,aimd --scenarios steps,surge --json is now\n%s\nUPDATE=1 go test ./lab/limits writes it anew", &got)
	}
}

// A law that sees drops only climbs past a resource that is late and still in time;
// a lab that did not see that could see nothing.
func TestTheLabTellsLawsApart(t *testing.T) {
	d := played(t)
	own, other := d.Summary["knee"], d.Summary["aimd"]
	if own.InTime != own.Steps || other.InTime == other.Steps {
		t.Errorf("knee found %d of %d, aimd %d of %d", own.InTime, own.Steps, other.InTime, other.Steps)
	}
	if !(own.Error < other.Error/5) {
		t.Errorf("error %v against %v", own.Error, other.Error)
	}
}

func TestLawsAndScenariosMustExist(t *testing.T) {
	for _, o := range []Options{{Laws: []string{"best"}}, {Scenarios: []string{"calm"}}} {
		if _, err := Table(o, 1); err == nil || !strings.Contains(err.Error(), "no such") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestEveryArmIsDescribed(t *testing.T) {
	arms, err := Options{}.Arms()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range arms {
		if Does(s.law) == "" || Describes[s.Scenario] == "" {
			t.Errorf("%s is not described", s.Name)
		}
	}
}
