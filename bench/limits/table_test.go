package limits

import (
	"flag"
	"os"
	"testing"
	"testing/synctest"

	lab "github.com/spillway-dev/spillway/lab/limits"
	"github.com/spillway-dev/spillway/report/text"
)

var (
	table = flag.Bool("table", false, "print the table of lab limits with the originals")
	long  = flag.Bool("long", false, "half-hours last half an hour")
	seed  = flag.Uint64("seed", 1, "of the table")
)

// play plays scenarios inside a bubble and returns what came of them, and how many
// calls ran without a permit of the original.
func play(t *testing.T, o lab.Options, seed uint64) (d *lab.Document, missed int) {
	t.Helper()
	var all []*failsafe
	o.Peers = peers(func(f *failsafe) { all = append(all, f) })
	synctest.Test(t, func(t *testing.T) {
		plan, err := lab.Table(o, seed)
		if err != nil {
			t.Fatal(err)
		}
		if d, err = lab.Run(plan, nil); err != nil {
			t.Fatal(err)
		}
	})
	for _, f := range all {
		missed += f.missed
	}
	return d, missed
}

// The original is told of every call, at its instant, and is what bounds them: a world
// in which it were not would say nothing of it.
func TestAnOriginalIsDrivenAsItsDocumentationSays(t *testing.T) {
	d, missed := play(t, lab.Options{Laws: []string{"failsafe-go", "failsafe-100ms"}, Scenarios: []string{"surge", "steps"}, Quick: true}, 1)
	if missed > 0 {
		t.Errorf("%d calls ran without a permit", missed)
	}
	for name, r := range d.Arms {
		if r.Served == 0 || r.Most > 1000 {
			t.Errorf("%s: %d served, %v in flight at most", name, r.Served, r.Most)
		}
	}
	if a, b := d.Arms["steps-failsafe-go"], d.Arms["steps-failsafe-100ms"]; a.Error == b.Error {
		t.Errorf("windows of a second and of 100 ms both give an error of %v: their clock stands still", a.Error)
	}
	again, _ := play(t, lab.Options{Laws: []string{"failsafe-go"}, Scenarios: []string{"surge"}, Quick: true}, 1)
	if again.Arms["surge-failsafe-go"].Goodput != d.Arms["surge-failsafe-go"].Goodput {
		t.Error("the same seed gave other figures")
	}
}

// TestTable prints the table with -table.
func TestTable(t *testing.T) {
	if !*table {
		t.Skip("skipped: -args -table prints it; it takes minutes")
	}
	d, missed := play(t, lab.Options{Quick: !*long}, *seed)
	if err := text.WriteTable(os.Stdout, text.Table{Head: lab.Head, Rows: d.Rows(), Left: []int{1}}, text.Options{Width: 200}); err != nil {
		t.Fatal(err)
	}
	if missed > 0 {
		t.Errorf("%d calls ran without a permit of the original", missed)
	}
}
