package strip

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/config/assemble"
	"github.com/spillway-dev/spillway/lab/strip/live"
	"github.com/spillway-dev/spillway/lab/verify"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/workload"
)

const asPart = "SPILLWAY_TEST_AS_PART" // makes the test binary be a part

func TestMain(m *testing.M) {
	if name := os.Getenv(asPart); name != "" {
		if err := live.Part(name, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func startPart(part string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), asPart+"="+part)
	return c
}

// The file that the gateway is given says the policy that virtual time plays.
func TestTheFileIsTheScenario(t *testing.T) {
	for _, policy := range Defaults().Policies {
		o := Defaults()
		s := o.arm(policy, 1.5, 1)
		cfg, err := live.Configuration(s.file(), "http://127.0.0.1:1")
		if err != nil {
			t.Fatal(err)
		}
		scenario, err := s.scenario(workload.NewNames())
		if err != nil {
			t.Fatal(err)
		}
		file, virtual := assemble.Resources(cfg)[0].Machine.Classes[0], scenario.Resources[0].Boundary.Classes[0]
		if file.Name != virtual.Name || file.Deadline != virtual.Deadline || file.AdmitHopeless != virtual.AdmitHopeless ||
			file.Pool.Slots != virtual.Pool.Slots || file.Pool.Service != virtual.Pool.Service || file.Pool.Order != virtual.Pool.Order ||
			virtual.Pool.Bound == 0 && file.Pool.Latency != virtual.Pool.Latency {
			t.Errorf("%s: the file says\n%+v\nvirtual time plays\n%+v", policy, file, virtual)
		}
		if (file.Shed == nil) != (virtual.Shed == nil) {
			t.Errorf("%s: shed %v, in virtual time %v", policy, file.Shed, virtual.Shed)
		} else if file.Shed != nil {
			a, b := file.Shed.WithDefaults(), virtual.Shed.WithDefaults()
			a.Seed, b.Seed = 0, 0
			if policy == "random" {
				a.Span = b.Span // there are no sessions
			}
			if a != b {
				t.Errorf("%s: the law is %+v, in virtual time %+v", policy, a, b)
			}
		}
		order, err := assemble.Ladder(cfg, cfg.Classes[0])
		if err != nil {
			t.Fatal(err)
		}
		if a, b := order.Len(), scenario.Resources[0].Ladders[0].Order.Len(); a != b {
			t.Errorf("%s: %d rungs, in virtual time %d", policy, a, b)
		}
	}
}

// A small live run: every keystroke has one answer or none, all that were answered were
// checked, the least gaps were shed, and everything that is said of it is what its records
// say. How much was shed and how long it took is the machine's.
func TestLiveArms(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it starts processes and takes half a minute")
	}
	o := short("random", "gap")
	o.Slots, o.Service, o.Deadline, o.Seconds = 4, 20*time.Millisecond, 150*time.Millisecond, 1
	o.Live = &LiveOptions{Context: t.Context(), Start: startPart, Quick: true}
	dir := filepath.Join(t.TempDir(), "records")
	d, err := Run(o, dir, report.Meta{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.Mode != "live" || len(d.Runs) != 2 || len(d.Arms) != 4 || len(d.Live.Beside) != 2 || d.Live.HeldMs < 20 {
		t.Errorf("%s: %d runs, %d arms, %d beside, held %v ms", d.Mode, len(d.Runs), len(d.Arms), len(d.Live.Beside), d.Live.HeldMs)
	}
	for _, r := range d.Runs {
		answered, reasons := int64(0), int64(0)
		for _, n := range r.Answered { // order does not matter: sums
			answered += n
		}
		for _, n := range r.Reasons {
			reasons += n
		}
		if offered := float64(r.OfferedPerS) * o.Seconds; float64(answered) != offered || reasons != answered-r.Answered[unanswered] {
			t.Errorf("%s: of %v were answered %d, for reasons %d", r.Policy, offered, answered, reasons)
		}
		if r.Answered[personalised] == 0 || r.Reasons[reason.ShedForLoad.String()] == 0 {
			t.Errorf("%s: %v, %v", r.Policy, r.Answered, r.Reasons)
		}
	}
	for arm, of := range d.Live.Machine {
		for _, f := range of {
			if f.MostHeld > o.Slots || f.Checked == 0 || f.Served == 0 {
				t.Errorf("%s: %+v", arm, f)
			}
		}
	}
	out, err := verify.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range out.Mismatches {
		t.Error(m)
	}
	if out.Figures < 100 {
		t.Errorf("only %d figures were looked at", out.Figures)
	}

	// That an arm agrees with virtual time, or does not, is looked at too.
	d.Live.Beside[0].Within = !d.Live.Beside[0].Within
	var text bytes.Buffer
	if err := report.WriteJSON(&text, d); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "results.json"), text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err = verify.Dir(dir); err != nil || len(out.Mismatches) != 1 {
		t.Errorf("%v, %v: a turned verdict is not seen", out.Mismatches, err)
	}
}

// Live too the law sheds the smaller gaps: in a sentence none is served in full that is
// smaller than one that was shed before.
func TestLiveTheSmallGapsAreShed(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it starts processes and takes seconds")
	}
	o := short("gap")
	o.Slots, o.Service, o.Deadline = 4, 20*time.Millisecond, 150*time.Millisecond
	s := o.arm("gap", 2, 1)
	s.UpS, s.FromS, s.ToS = 1, 1, 5
	l := &LiveOptions{Context: t.Context(), bench: live.NewBench(startPart, 1)}
	r, _, err := bundled(t).playedLive(l, s)
	if err != nil {
		t.Fatal(err)
	}
	var gaps [2]float64 // sums, of whom was shed, of whom was served in full
	var n [2]float64
	for i := range r.typed {
		switch a := &r.answers[i]; {
		case r.typed[i].again:
		case a.reason == reason.ShedForLoad:
			gaps[0] += float64(r.gaps[i]) / float64(shed.Useless)
			n[0]++
		case rungs[a.rung] == personalised && r.typed[i].at >= sec(s.UpS):
			gaps[1] += float64(r.gaps[i]) / float64(shed.Useless)
			n[1]++
		}
	}
	if n[0] < 100 || n[1] < 20 || gaps[0]/n[0] >= gaps[1]/n[1] {
		t.Errorf("%v shed with a mean gap of %.3f, %v in full with %.3f", n[0], gaps[0]/n[0], n[1], gaps[1]/n[1])
	}
}
