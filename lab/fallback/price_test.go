package fallback

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/lab/fallback/ap"
	"github.com/spillway-dev/spillway/report"
)

// priced plays arms for a short while, with few models.
func priced(t *testing.T, arms ...string) *Document {
	t.Helper()
	o := Defaults()
	o.Seconds, o.Rounds, o.Arms = 5, 2, arms
	o.AP = &ap.Options{Seed: 1, Models: 2, Resamples: 100}
	d, err := Run(o, "", report.Meta{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// What is priced are the stand-ins that the rounds counted, of the arms that
// answer with any.
func TestStandInsArePriced(t *testing.T) {
	d := priced(t, "H3-none", "H3-t25", "H3-fb25", "H3-r2")
	for name, arm := range d.Arms {
		cost, is := d.AP[name]
		if want := name == "H3-fb25" || name == "H3-r2"; is != want {
			t.Errorf("%s is priced: %v, want %v", name, is, want)
			continue
		}
		if !is {
			continue
		}
		requests, standIns := 0.0, 0.0
		for _, r := range arm.Rounds {
			requests += float64(r.Requests)
			standIns += float64(r.Requests) * float64(r.StandIns)
		}
		if float64(cost.Requests) != requests || float64(cost.StandIns) < standIns-0.5 || float64(cost.StandIns) > standIns+0.5 {
			t.Errorf("%s: %d of %d requests are priced, the rounds count %.1f of %v", name, cost.StandIns, cost.Requests, standIns, requests)
		}
	}
	if fb := d.AP["H3-fb25"]; fb.None.Verdict == ap.NoStandIn || fb.Live != d.APRanking.Live {
		t.Errorf("H3-fb25: %+v beside a ranking of %v", fb, d.APRanking.Live)
	}
	if len(d.PriceTables()) != 1 || slices.Contains(d.NotTested, notPriced) || !strings.Contains(strings.Join(d.Findings, " "), "What stand-ins cost") {
		t.Error("the price is not shown, or still called not tested")
	}
}

func TestNoPriceUnlessAsked(t *testing.T) {
	o := Defaults()
	o.Seconds, o.Rounds, o.Arms = 2, 1, []string{"H3-fb25"}
	d, err := Run(o, "", report.Meta{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `"ap":{}`) || strings.Contains(string(text), "ap_ranking") || !slices.Contains(d.NotTested, notPriced) || len(d.PriceTables()) != 0 {
		t.Error("a price is there that nobody asked for, or it is not said to be missing")
	}
}

// A file of events that cannot be read is known before anything is played.
func TestEventsThatCannotBeRead(t *testing.T) {
	o := Defaults()
	o.AP = &ap.Options{Seed: 1, Models: 2, Resamples: 100, Events: "nowhere.csv"}
	played := ""
	_, err := Run(o, "", report.Meta{}, func(_, _ int, what string) { played = what })
	if err == nil || !strings.Contains(err.Error(), "nowhere.csv") || played != "events" {
		t.Errorf("error %v after %q", err, played)
	}
	o.AP.Models = 0
	if err := o.Check(); err == nil || !strings.Contains(err.Error(), "0 models") {
		t.Errorf("error %v", err)
	}
}
