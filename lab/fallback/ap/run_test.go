package ap_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/lab/fallback/ap"
	"github.com/spillway-dev/spillway/report/text"
	"github.com/spillway-dev/spillway/test/need"
)

func quick() ap.Options {
	o := ap.Defaults()
	o.Models, o.Resamples = 2, 100
	return o
}

func every(requests, n int) []bool {
	standIns := make([]bool, requests)
	for i := range standIns {
		standIns[i] = i%n == 0
	}
	return standIns
}

func encoded(t *testing.T, r *ap.Result) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTheSameSeedGivesTheSameFigures(t *testing.T) {
	arms := []ap.Arm{{Name: "H3-fb25", StandIns: every(45_000, 60)}, {Name: "H3-r2", StandIns: make([]bool, 45_000)}}
	play := func(seed uint64) string {
		o := quick()
		o.Seed = seed
		r, err := ap.Run(o, arms, nil)
		if err != nil {
			t.Fatal(err)
		}
		return encoded(t, r)
	}
	first := play(1)
	if again := play(1); again != first {
		t.Errorf("the second time\n%s\nthe first\n%s", again, first)
	}
	if other := play(2); other == first {
		t.Error("seeds 1 and 2 give the same figures")
	}
	for _, field := range []string{`"ap":{"H3-fb25":{"stand_in_share":0.016667,`, `"live":`, `"last_known":{`, `"default":{`, `"none":{`, `"delta":`, `"low":`, `"high":`} {
		if !strings.Contains(first, field) {
			t.Errorf("the JSON has no %s", field)
		}
	}
}

// A file and what is drawn go the same way: a shop written to a file and read
// again has the same ranking.
func TestEventsFromAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.csv")
	var file bytes.Buffer
	fmt.Fprintln(&file, "customer,time,amount")
	for c := range 300 {
		for day := c % 40; day < 400; day += 3 + c%50 {
			fmt.Fprintf(&file, "c%d,%d,%d.50\n", c, (19_000+day)*86_400, 1+c%9)
		}
	}
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	o := quick()
	o.Events = path
	r, err := ap.Run(o, []ap.Arm{{Name: "a", StandIns: every(1000, 2)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Ranking; f.Customers != 300 || f.Events != path || f.Live < 0.8 {
		t.Errorf("%d customers of %s, average precision %v; customers like clocks are easy to rank", f.Customers, f.Events, f.Live)
	}
}

func TestWhatRunRefuses(t *testing.T) {
	file := func(content string) func(*ap.Options) {
		path := filepath.Join(t.TempDir(), "shop.csv")
		if err := os.WriteFile(path, []byte("customer,time,amount\n"+content), 0o600); err != nil {
			t.Fatal(err)
		}
		return func(o *ap.Options) { o.Events = path }
	}
	for name, c := range map[string]struct {
		change func(*ap.Options)
		want   string
	}{
		"no models":     {func(o *ap.Options) { o.Models = 0 }, "0 models: it is from 1 to 100"},
		"few resamples": {func(o *ap.Options) { o.Resamples = 10 }, "10 resamples: it is from 100 to 2,000"},
		"no file":       {func(o *ap.Options) { o.Events = "nowhere.csv" }, "nowhere.csv"},
		"a bad row":     {file("a,b,c\n"), `shop.csv:2: time "b"`},
		"a short log":   {file("a,20240101,1\na,20240201,1\n"), "the ranking needs 210"},
		"nobody buys again": {file("a,20230101,1\nb,20240101,1\n"),
			"0 of the 5 customers at the training cutoffs buy within 30 days: there is nothing to learn"},
		"only returns": {file("a,20230101,-1\nb,20240101,-1\n"), "nobody had ordered before the cutoff"},
	} {
		t.Run(name, func(t *testing.T) {
			o := quick()
			c.change(&o)
			_, err := ap.Run(o, nil, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, c.want)
			}
		})
	}
}

func TestWhatIsShown(t *testing.T) {
	var heard []string
	r, err := ap.Run(quick(), []ap.Arm{
		{Name: "H3-fb25", StandIns: every(45_000, 60)}, {Name: "H4-r2", StandIns: every(45_000, 2)}, {Name: "H3-none", StandIns: make([]bool, 45_000)},
	}, func(_, _ int, what string) { heard = append(heard, what) })
	if err != nil {
		t.Fatal(err)
	}
	if len(heard) == 0 || heard[0] != "events" || heard[len(heard)-1] != "stand-ins of H3-none" {
		t.Errorf("progress was %v", heard)
	}
	rows := r.Rows()
	if len(rows) != 3+3+1 || rows[0][0] != "H3-fb25" || rows[0][1] != "1.67 %" || rows[6][6] != ap.NoStandIn {
		t.Errorf("rows %v", rows)
	}
	var out bytes.Buffer
	if err := text.WriteTable(&out, r.Table(), text.Options{}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if len(strings.TrimRight(line, "\n")) > 100 {
			t.Errorf("a line of %d columns: %s", len(line), line)
		}
	}
	for _, cell := range []string{"last known", "default", "none", "95 % range", "loses at most", "costs"} {
		if !strings.Contains(out.String(), cell) {
			t.Errorf("the table does not show %q:\n%s", cell, out.String())
		}
	}
	findings := strings.Join(r.Findings(), "\n")
	for _, words := range []string{"23.7 % of 27,319", "H3-fb25, 1.67 % stand-ins", "H4-r2, 50.00 % stand-ins"} {
		if !strings.Contains(findings, words) {
			t.Errorf("findings do not say %q:\n%s", words, findings)
		}
	}
}

// What stand-ins cost in two real shops: figures as docs/stand-ins.md has them.
func TestRealShops(t *testing.T) {
	for file, want := range map[string]struct{ live, buyers, few, half float64 }{
		"customers/CDNOW_master.txt.gz":           {0.351, 0.068, -0.0003, -0.008},
		"customers/online_retail_invoices.csv.gz": {0.588, 0.292, -0.0004, -0.0105},
		"customers/online_retail_lines.csv.gz":    {0.588, 0.292, -0.0004, -0.0105},
	} {
		t.Run(file, func(t *testing.T) {
			o := ap.Defaults()
			o.Models, o.Resamples = 5, 200
			o.Events = need.Data(t, file)
			r, err := ap.Run(o, []ap.Arm{{Name: "few", StandIns: every(45_000, 60)}, {Name: "half", StandIns: every(45_000, 2)}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			near := func(what string, got, want, by float64) {
				t.Helper()
				if got < want-by || got > want+by {
					t.Errorf("%s: %.5f, want %.4f within %.4f", what, got, want, by)
				}
			}
			near("average precision", float64(r.Ranking.Live), want.live, 0.002)
			near("buyers", float64(r.Ranking.BuyersRanked), want.buyers, 0.001)
			near("last known, few", float64(r.Arms["few"].LastKnown.Delta), want.few, 0.0004)
			near("last known, half", float64(r.Arms["half"].LastKnown.Delta), want.half, 0.003)
			if r.Arms["few"].None.Verdict != ap.Costs || r.Arms["half"].Default.Verdict != ap.Costs {
				t.Error("the default and no score cost nothing that shows")
			}
			if r.Ranking.Live <= r.Ranking.ByLastOrder {
				t.Errorf("the model ranks no better (%v) than the last order alone (%v)", r.Ranking.Live, r.Ranking.ByLastOrder)
			}
		})
	}
}
