package fallback

import (
	"fmt"

	"github.com/spillway-dev/spillway/report"
)

// Comparison is a figure of two arms, round by round with the same dice.
type Comparison struct {
	A      string        `json:"a"`
	B      string        `json:"b"`
	Figure string        `json:"figure"`
	Asks   string        `json:"asks"`
	MedA   report.Number `json:"median_a"`
	MedB   report.Number `json:"median_b"`
	// Lower and Higher are rounds in which A's figure was lower or higher than B's.
	Lower  int `json:"lower"`
	Higher int `json:"higher"`
	// Verdict is clearly lower or clearly higher where every round says so, of
	// three or more, else too close to call.
	Verdict string `json:"verdict"`
}

// The verdicts on two arms.
const (
	ClearlyLower  = "clearly lower"
	ClearlyHigher = "clearly higher"
	TooClose      = "too close to call"
)

// fewestRounds is how many rounds a clear verdict takes: two agree by chance every
// other time.
const fewestRounds = 3

// comparisons that are made where both arms are played.
func comparisons() []Comparison {
	ask := func(a, b, figure, asks string) Comparison { return Comparison{A: a, B: b, Figure: figure, Asks: asks} }
	return []Comparison{
		ask("H3-dl", "H3-fb25", "slowest_1pct_mean_ms", "does a deadline keep the slowest sooner than a limit?"),
		ask("H3-dl", "H3-fb23", "slowest_1pct_mean_ms", "or is it only the 2 ms less?"),
		ask("H3-dl", "H3-fb23", "stand_in_share", "and does it cost stand-ins?"),
		ask("H3-dldown", "H3-dl", "store_ms_per_call", "does a deadline that goes along spare the store?"),
		ask("H3-r2b", "H3-r2", "p99_ms", "does a pause cost time?"),
		ask("H3-r2bj", "H3-r2b", "p99_ms", "does jitter give it back?"),
		ask("H3-hedge", "H3-fb25", "p99_ms", "does a second ask shorten the tail?"),
		ask("L3-hedge", "L3-t25", "p99_ms", "also without freezes?"),
		ask("H4-r2b", "H4-r2", "stand_in_share", "do pauses help against the flood?"),
		ask("H4-r2bj", "H4-r2", "stand_in_share", "does jitter?"),
		ask("H4-r2", "H4-fb25", "stand_in_share", "are retries better than none at 450/s?"),
		ask("H4-r2-b10", "H4-fb25", "stand_in_share", "with a budget?"),
		ask("H4-r2-tokens", "H4-r2-b10", "stand_in_share", "a token bucket rather than a share?"),
		ask("H4-r2-limitdown", "H4-fb25", "stand_in_share", "if the limit goes along?"),
		ask("H4-r2-limitdown-b10", "H4-r2-limitdown", "calls_per_request", "what does the budget save where limits go along?"),
		ask("H4-hedge-b10", "H4-hedge", "stand_in_share", "does a hedge need a budget?"),
		ask("H4-hedge-always", "H4-hedge", "stand_in_share", "or to stop while the store is slow as a whole?"),
		ask("H4-hedge-limitdown-b10", "H4-r2-limitdown-b10", "p99_ms", "hedge or retry?"),
		ask("H4-r2-protected", "H4-r2", "stand_in_share", "does spillway in front of the store help callers that retry without a budget?"),
		ask("H4-r2-protected-stops", "H4-r2-protected", "stand_in_share", "and if the store can stop?"),
		ask("H4-all", "H4-r2-hedge-limitdown-b10", "stand_in_share", "is every defence better than the best few?"),
		ask("L4-busy-r2", "L4-busy-fb25", "stand_in_share", "do retries help when everything is slow at once?"),
		ask("L4-busy-hedge-b10", "L4-busy-fb25", "stand_in_share", "does a hedge?"),
		ask("L4-customer-r2", "L4-customer-fb25", "stand_in_share", "do retries help one slow customer?"),
		ask("L4-apart-hedge-b10", "L4-together-hedge-b10", "stand_in_share", "is a hedge to another copy worth more where copies are slow apart?"),
		ask("L4-apart-r2-limitdown-b10", "L4-together-r2-limitdown-b10", "stand_in_share", "and a retry?"),
	}
}

// figureOf returns a figure of a round by its name.
func figureOf(r *Round, name string) report.Number {
	switch name {
	case "p99_ms":
		return r.P99Ms
	case "slowest_1pct_mean_ms":
		return r.Slowest
	case "stand_in_share":
		return r.StandIns
	case "store_ms_per_call":
		return r.StoreMsPerCall
	case "calls_per_request":
		return r.CallsPerRequest
	}
	panic("BUG: lab fallback: no comparison by " + name)
}

// judge compares the arms round by round.
func (c *Comparison) judge(a, b *Result) {
	c.MedA, c.MedB, c.Verdict = figureOf(&a.Median, c.Figure), figureOf(&b.Median, c.Figure), TooClose
	n := min(len(a.Rounds), len(b.Rounds))
	for i := range n {
		switch x, y := figureOf(&a.Rounds[i], c.Figure), figureOf(&b.Rounds[i], c.Figure); {
		case x < y:
			c.Lower++
		case x > y:
			c.Higher++
		}
	}
	switch {
	case n < fewestRounds:
	case c.Lower == n:
		c.Verdict = ClearlyLower
	case c.Higher == n:
		c.Verdict = ClearlyHigher
	}
}

// line says the comparison in words.
func (c *Comparison) line() string {
	show := report.FormatMs
	switch c.Figure {
	case "stand_in_share":
		show = sharp
	case "calls_per_request":
		show = report.Format
	}
	if c.Verdict == TooClose {
		return fmt.Sprintf("%s %s: %s (%s) and %s (%s): too close to call", c.Asks, c.Figure, c.A, show(c.MedA), c.B, show(c.MedB))
	}
	return fmt.Sprintf("%s %s: %s (%s) is %s than %s (%s)", c.Asks, c.Figure, c.A, show(c.MedA), c.Verdict, c.B, show(c.MedB))
}

// sharp writes a share in percent to two decimals, as stand-ins need it.
func sharp(share report.Number) string {
	if !share.Known() {
		return "-"
	}
	return fmt.Sprintf("%.2f %%", float64(share*100))
}
