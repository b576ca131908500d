package limits

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/lab/verify"
)

// The records say what the lab said; and no more once the end of one call is later by
// a microsecond.
func TestARecordThatIsChangedIsSeen(t *testing.T) {
	p, err := Table(Options{Laws: []string{"knee"}, Scenarios: []string{"healthy"}, Quick: true}, 3)
	if err != nil {
		t.Fatal(err)
	}
	p.Raw = filepath.Join(t.TempDir(), "raw")
	if _, err := Run(p, nil); err != nil {
		t.Fatal(err)
	}
	found, err := verify.Dir(p.Raw)
	if err != nil || len(found.Mismatches) > 0 || found.Figures < 50 {
		t.Fatalf("%d figures, %v: %v", found.Figures, found.Mismatches, err)
	}
	delay(t, filepath.Join(p.Raw, "healthy-knee.csv.gz"))
	found, err = verify.Dir(p.Raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range found.Mismatches {
		if m.Where == "healthy-knee.held_total_ms" {
			return
		}
	}
	t.Errorf("a call that ended later was not seen: %v", found.Mismatches)
}

// delay has the last call that held a slot end a microsecond later.
func delay(t *testing.T, path string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	const ended, flag = 12, 16
	lines := strings.Split(string(text), "\n")
	for i := len(lines) / 2; i < len(lines); i++ {
		cells := strings.Split(lines[i], ",")
		if cells[flag] != "1" {
			continue
		}
		at, err := strconv.ParseInt(cells[ended], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		cells[ended] = strconv.FormatInt(at+1000, 10)
		lines[i] = strings.Join(cells, ",")
		break
	}
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := gzip.NewWriter(out)
	if _, err := io.WriteString(w, strings.Join(lines, "\n")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
