package gap_test

import (
	"math"
	"testing"

	"github.com/spillway-dev/spillway/policy/gap"
	"github.com/spillway-dev/spillway/policy/shed"
)

func TestATableLooksUpTheTextThenTheNumberThenHowItBegins(t *testing.T) {
	table := gap.NewTable(
		[]gap.Row{
			{Text: "/search", Rest: true, Gap: 500_000}, {Text: "/search/best", Rest: true, Gap: 900_000},
			{Text: "/search/best/now", Gap: 1}, {Text: "7", Gap: 2}, {Text: "7", Gap: 3},
		},
		[]gap.Range{{To: 10, Gap: 400_000}, {To: 3, Gap: 800_000}},
	)
	for text, want := range map[string]shed.Gap{
		"/search":                               500_000,
		"/search/x":                             500_000,
		"/search/best/then":                     900_000,
		"/search/best/now":                      1,
		"7":                                     2,
		"3":                                     800_000,
		"-1e300":                                800_000,
		"3.01":                                  400_000,
		"+10":                                   400_000,
		"10.5":                                  shed.Useless,
		"nan":                                   shed.Useless,
		"inf":                                   shed.Useless,
		"":                                      shed.Useless,
		"other":                                 shed.Useless,
		"1111111111111111111111111111111111111": shed.Useless,
	} {
		if got := table.Of(text); got != want {
			t.Errorf("%q has gap %d, want %d", text, got, want)
		}
	}
	rest := gap.NewTable([]gap.Row{{Rest: true, Gap: 5}}, nil)
	if got := rest.Of("anything"); got != 5 {
		t.Errorf("* alone gives %d, want 5", got)
	}
	var nothing gap.Table
	if got := nothing.Of("x"); got != shed.Useless {
		t.Errorf("a table of nothing gives %d", got)
	}
}

func TestWhatATableCosts(t *testing.T) {
	table := gap.NewTable([]gap.Row{{Text: "/a", Rest: true}}, []gap.Range{{To: 3}})
	if n := testing.AllocsPerRun(100, func() { table.Of("2"); table.Of("/a/b"); table.Of("/b") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestAFigureOutsideIsTheNearerEndAndSaysSo(t *testing.T) {
	for _, c := range []struct {
		x       float64
		want    shed.Gap
		outside bool
	}{
		{0, 0, false}, {0.25, 250_000, false}, {1, shed.Useless, false},
		{-0.1, 0, true}, {1.0001, shed.Useless, true}, {math.Inf(1), shed.Useless, true}, {math.Inf(-1), 0, true},
		{math.NaN(), shed.Useless, true},
	} {
		if g, outside := gap.Given(c.x); g != c.want || outside != c.outside {
			t.Errorf("%v became %d (outside: %v), want %d (%v)", c.x, g, outside, c.want, c.outside)
		}
	}
}
