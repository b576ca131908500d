package lab_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/lab/fair"
	"github.com/spillway-dev/spillway/lab/pool"
	"github.com/spillway-dev/spillway/lab/verify"
	"github.com/spillway-dev/spillway/report"
)

// keepPool plays a few short arms of every kind and keeps their records.
func keepPool(t *testing.T) string {
	t.Helper()
	return keepArms(t, 40, 1, "bound-derived", "shared", "pools", "full-block", "full-fail-fast", "deadline-ignored", "deadline-at-start", "producers-unprotected", "nested-27")
}

func keepArms(t *testing.T, slots int, seconds float64, arms ...string) string {
	t.Helper()
	o := pool.Defaults()
	o.Slots, o.Seconds, o.Arms = slots, seconds, arms
	o.Rate = 17.5 * float64(slots)
	dir := filepath.Join(t.TempDir(), "pool")
	if _, err := pool.Run(o, dir, report.Meta{Version: "test"}, nil); err != nil {
		t.Fatal(err)
	}
	return dir
}

func keepFair(t *testing.T) string {
	t.Helper()
	p := fair.WholeTable(1, false)
	for _, s := range fair.More() {
		if s.Crowd == nil || s.Crowd.Tenants <= 1000 {
			p.Arms = append(p.Arms, s)
		}
	}
	p.Predictions = append(p.Predictions, fair.MorePredictions()...)
	p.Raw = filepath.Join(t.TempDir(), "fair")
	p.Predictions = slices.DeleteFunc(p.Predictions, func(one lab.Prediction) bool { return one.Arm == "tenants-100000" })
	if _, err := fair.Run(p, nil); err != nil {
		t.Fatal(err)
	}
	return p.Raw
}

func mismatches(t *testing.T, dir string) []verify.Mismatch {
	t.Helper()
	o, err := verify.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return o.Mismatches
}

func TestWhatTheLabsSayIsWhatTheRecordsSay(t *testing.T) {
	lasting := keepArms(t, 40, 10, "bound-none", "bound-last-year", "bound-derived", "pools-borrow", "pools", "full-drop", "order-lifo", "order-adaptive", "producers-jitter", "nested-budget")
	for _, dir := range []string{keepPool(t), lasting, keepFair(t)} {
		o, err := verify.Dir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range o.Mismatches {
			t.Errorf("%s: %v", o.Lab, m)
		}
		if o.Figures < 100 || o.Verdicts < 1 || o.Rows < 1000 {
			t.Errorf("only %d figures, %d verdicts and %d rows were looked at", o.Figures, o.Verdicts, o.Rows)
		}
	}
}

// edit rewrites one arm's records. With covered, the results name the hash of
// what is written, as somebody would who wants it not to be seen.
func edit(t *testing.T, dir, arm string, covered bool, change func(cells []string) bool) {
	t.Helper()
	path := filepath.Join(dir, arm+".csv.gz")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	lines, changed := strings.Split(string(text), "\n"), false
	for i := 2; i < len(lines)-1 && !changed; i++ {
		cells := strings.Split(lines[i], ",")
		if changed = change(cells); changed {
			lines[i] = strings.Join(cells, ",")
		}
	}
	if !changed {
		t.Fatal("nothing was changed")
	}
	text = []byte(strings.Join(lines, "\n"))
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(text)
	_ = w.Close()
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if covered {
		sum := sha256.Sum256(text)
		results(t, dir, func(r map[string]any) {
			r["records"].(map[string]any)[arm].(map[string]any)["sha256"] = hex.EncodeToString(sum[:])
		})
	}
}

// results rewrites the results.
func results(t *testing.T, dir string, change func(map[string]any)) {
	t.Helper()
	path := filepath.Join(dir, "results.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var r map[string]any
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	change(r)
	if text, err = json.Marshal(r); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

const started = 11 // column

// waitLonger picks an attempt that waited and was started, and adds to its wait.
func waitLonger(by int64) func([]string) bool {
	return func(cells []string) bool {
		if cells[0] != "r" || cells[started] == "-1" || cells[started] == cells[10] {
			return false
		}
		n, err := strconv.ParseInt(cells[started], 10, 64)
		cells[started] = strconv.FormatInt(n+by, 10)
		return err == nil
	}
}

func TestOneWaitChangedByAMicrosecondIsCaught(t *testing.T) {
	for _, covered := range []bool{false, true} {
		dir := keepPool(t)
		edit(t, dir, "bound-derived", covered, waitLonger(1000))
		found := mismatches(t, dir)
		figure := slices.ContainsFunc(found, func(m verify.Mismatch) bool { return m.Where == "bound-derived.queue_wait_total_ms" })
		hash := slices.ContainsFunc(found, func(m verify.Mismatch) bool { return m.Where == "records.bound-derived.sha256" })
		if !figure || hash == covered {
			t.Errorf("hash covered %v: found %v", covered, found)
		}
	}
	dir := keepFair(t)
	edit(t, dir, "random-wrr", true, waitLonger(1000))
	if len(mismatches(t, dir)) == 0 {
		t.Error("lab fair: nothing was found")
	}
}

func TestAFlippedVerdictIsCaught(t *testing.T) {
	dir := keepPool(t)
	results(t, dir, func(r map[string]any) {
		v := r["predictions"].([]any)[0].(map[string]any)
		v["verdict"] = map[any]string{"held": "wrong", "wrong": "held"}[v["verdict"]]
	})
	found := mismatches(t, dir)
	if len(found) != 1 || !strings.HasSuffix(found[0].Where, "verdict") {
		t.Errorf("found %v", found)
	}
}

func TestAPredictionChangedAfterwardsIsCaught(t *testing.T) {
	dir := keepPool(t)
	path := filepath.Join(dir, "plan.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(text, []byte("three layers of three attempts"), []byte("three layers of four attempts"), 1)
	if err := os.WriteFile(path, changed, 0o644); err != nil {
		t.Fatal(err)
	}
	found := mismatches(t, dir)
	headers := 0
	for _, m := range found {
		if strings.HasSuffix(m.Where, ".header") {
			headers++
		}
	}
	if bytes.Equal(text, changed) || headers != 9 {
		t.Errorf("found %v", found)
	}
}

// Whatever number of the results is changed, it is found.
func TestEveryFigureIsLookedAt(t *testing.T) {
	fifo := fair.Defaults()
	fifo.Policy = "fifo"
	one, err := fair.One(fifo, 1)
	if err != nil {
		t.Fatal(err)
	}
	one.Raw = filepath.Join(t.TempDir(), "fair")
	if _, err := fair.Run(one, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, arm string }{
		{keepArms(t, 4, 1, "pools"), "pools"}, {keepArms(t, 4, 1, "full-block"), "full-block"}, {one.Raw, "fifo"},
	} {
		original, err := os.ReadFile(filepath.Join(c.dir, "results.json"))
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; ; n++ {
			var path string
			results(t, c.dir, func(r map[string]any) {
				left := n
				path = bump(r["arms"].(map[string]any)[c.arm], "", &left)
			})
			if path == "" {
				if n < 30 {
					t.Errorf("%s: only %d figures", c.arm, n)
				}
				break
			}
			if found := mismatches(t, c.dir); len(found) == 0 {
				t.Errorf("%s%s was changed and nobody saw it", c.arm, path)
			}
			if err := os.WriteFile(filepath.Join(c.dir, "results.json"), original, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// bump adds half a percent and a bit to the number that comes at place left in
// the tree, and returns its path.
func bump(node any, path string, left *int) string {
	visit := func(child any, name string, set func(float64)) string {
		if v, number := child.(float64); number {
			if *left--; *left < 0 {
				set(v*1.005 + 0.01)
				return path + "." + name
			}
			return ""
		}
		return bump(child, path+"."+name, left)
	}
	switch v := node.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if found := visit(v[name], name, func(n float64) { v[name] = n }); found != "" {
				return found
			}
		}
	case []any:
		for i, child := range v {
			if found := visit(child, strconv.Itoa(i), func(n float64) { v[i] = n }); found != "" {
				return found
			}
		}
	}
	return ""
}

// The same seed gives the same bytes: results and records.
func TestSameSeedSameBytes(t *testing.T) {
	for _, keep := range []func(*testing.T) string{keepPool, keepFair} {
		one, two := keep(t), keep(t)
		entries, err := os.ReadDir(one)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			a, err := os.ReadFile(filepath.Join(one, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(filepath.Join(two, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(a, b) {
				t.Errorf("%s differs between two runs of one seed", e.Name())
			}
		}
	}
}

func TestRecordsThatCannotBeRead(t *testing.T) {
	kept := keepPool(t)
	for name, spoil := range map[string]func(dir string) error{
		"no plan":    func(dir string) error { return os.Remove(filepath.Join(dir, "plan.json")) },
		"no results": func(dir string) error { return os.Remove(filepath.Join(dir, "results.json")) },
		"no records": func(dir string) error { return os.Remove(filepath.Join(dir, "pools.csv.gz")) },
		"not gzip":   func(dir string) error { return os.WriteFile(filepath.Join(dir, "pools.csv.gz"), []byte("x"), 0o644) },
		"not JSON":   func(dir string) error { return os.WriteFile(filepath.Join(dir, "plan.json"), []byte("{"), 0o644) },
		"other format": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "plan.json"), []byte(`{"format":"spillway-lab-raw 9"}`), 0o644)
		},
		"a name that leads elsewhere": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "plan.json"), []byte(`{"format":"spillway-lab-raw 1","lab":"pool","arms":[{"name":"../../etc/passwd"}]}`), 0o644)
		},
	} {
		dir := filepath.Join(t.TempDir(), "spoilt")
		if err := os.CopyFS(dir, os.DirFS(kept)); err != nil {
			t.Fatal(err)
		}
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := verify.Dir(dir); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
