package text

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/internal/sample"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

func TestReportsLookLikeTheirGoldenText(t *testing.T) {
	for name, r := range map[string]*report.Report{
		"overload": sample.Overload(), "calm": sample.Calm(), "many": sample.Many(40), "nothing": report.NewCollector(report.Options{}).Report(report.About{}),
	} {
		t.Run(name, func(t *testing.T) {
			if err := r.Check(); err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := Write(&got, r, Options{}); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".txt", got.Bytes())
			noWider(t, got.String(), DefaultWidth)
		})
	}
}

func TestComparisonLooksLikeItsGoldenText(t *testing.T) {
	live, predicted := sample.Overload(), sample.Overload()
	live.Classes["checkout"].GoodputPerS *= 0.98
	live.Classes["search"].P99Ms *= 1.5
	for name, c := range map[string]Comparison{
		"demo": {Title: "checkout and its neighbours", Differences: true,
			Arms: []report.Arm{{Name: "without", Report: sample.Calm()}, {Name: "live", Report: live}, {Name: "predicted", Report: predicted}}},
		"arms": {Arms: []report.Arm{{Name: "bound of 80", Report: live}, {Name: "no bound", Report: predicted}}},
	} {
		var got bytes.Buffer
		if err := WriteComparison(&got, c, Options{}); err != nil {
			t.Fatal(err)
		}
		golden(t, "compare-"+name+".txt", got.Bytes())
		noWider(t, got.String(), DefaultWidth)
	}
}

func noWider(t *testing.T, text string, limit int) {
	t.Helper()
	for _, line := range strings.Split(text, "\n") {
		if columns(line) > limit && !strings.HasPrefix(line, "repeat: ") {
			t.Errorf("line of %d columns: %s", columns(line), line)
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -rewrite writes it anew):\n%s", path, got)
	}
}

func TestColourIsAskedForAndNeverNeeded(t *testing.T) {
	var plain, coloured bytes.Buffer
	if err := Write(&plain, sample.Overload(), Options{}); err != nil {
		t.Fatal(err)
	}
	if err := Write(&coloured, sample.Overload(), Options{Color: true}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(plain.String(), "\x1b") {
		t.Error("plain text holds an escape sequence")
	}
	stripped := strings.NewReplacer("\x1b[1m", "", "\x1b[2m", "", "\x1b[0m", "").Replace(coloured.String())
	if stripped != plain.String() {
		t.Error("coloured text says something else than plain text")
	}
	t.Setenv("NO_COLOR", "1")
	if For(os.Stdout).Color {
		t.Error("colour in spite of NO_COLOR")
	}
}

func TestHostileNamesCannotSpeakToTheTerminal(t *testing.T) {
	c := report.NewCollector(report.Options{For: time.Second})
	hostile := "x\x1b[2J\r\n\u202e\a" + strings.Repeat("long", 50)
	for _, tenant := range []string{hostile, "日本語のテナント", ""} {
		c.Tally(hostile, tenant).Offered(0)
	}
	var got bytes.Buffer
	if err := Write(&got, c.Report(report.About{Warnings: []string{hostile}, Meta: report.Meta{Version: hostile}}), Options{}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"\x1b", "\r", "\a", "\u202e"} {
		if strings.Contains(got.String(), bad) {
			t.Errorf("%q reached the terminal", bad)
		}
	}
}

func TestTableLeavesOutWhatHasNoRoom(t *testing.T) {
	table := Table{Head: []string{"name"}, Rows: [][]string{{"a very long name that has to be cut"}}}
	for _, n := range []string{"one", "two", "three", "four", "five", "six", "seven"} {
		table.Head = append(table.Head, n)
		table.Rows[0] = append(table.Rows[0], "1,234,567")
	}
	var got bytes.Buffer
	if err := WriteTable(&got, table, Options{Width: 60}); err != nil {
		t.Fatal(err)
	}
	noWider(t, got.String(), 60)
	if !strings.Contains(got.String(), "Not shown for want of room: ") {
		t.Errorf("what is left out is not named:\n%s", got.String())
	}
}

func TestSpark(t *testing.T) {
	for _, test := range []struct {
		values []float64
		n      int
		top    float64
		want   string
	}{
		{[]float64{0, 5, 10}, 3, 10, " +@"},
		{[]float64{0.0001}, 2, 10, ".."},
		{[]float64{10, 0, 10, 0}, 2, 10, "++"},
		{[]float64{20}, 1, 10, "@"},
		{nil, 3, 10, "   "},
		{[]float64{1}, 3, 0, "   "},
		{[]float64{1}, -1, 1, ""},
	} {
		if got := Spark(test.values, test.n, test.top); got != test.want {
			t.Errorf("Spark(%v, %d, %v) is %q, want %q", test.values, test.n, test.top, got, test.want)
		}
	}
}

func TestProgressIsOneLineAtMostFiveTimesASecond(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, true, 79)
	for i := range 1000 {
		p.Update(time.Duration(i)*time.Millisecond, State{What: "load", Share: float64(i) / 1000, PerS: 4999, Lag: 400 * time.Microsecond})
	}
	if n := strings.Count(out.String(), "\r\x1b[K"); n != 5 {
		t.Errorf("drawn %d times in a second, want 5", n)
	}
	if want := "load   0.8 s   80 %  5,000/s  lag 0.400 ms"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("last line is %q, want %q", out.String()[strings.LastIndexByte(out.String(), 'K')+1:], want)
	}
	p.Clear()
	if !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Error("the line was not taken away")
	}
}

func TestProgressIsSilentWhereNobodyWatches(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	silent := NewProgress(f, false)
	silent.Update(0, State{What: "sim"})
	silent.Clear()
	NewProgress(f, true).Update(0, State{What: "asked for", Share: -1, Lag: -1})
	got, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != "asked for   0.0 s\n" {
		t.Errorf("wrote %q", got)
	}
}
