package observe

import "sync/atomic"

// Expressions counts what came of a class's expressions, but for what was as it is
// meant to be.
type Expressions struct {
	// Match, Gap and By count evaluations that failed, of match.expr, gap.expr and
	// gap.learned.by.
	Match, Gap, By atomic.Int64
	// Outside counts gaps outside 0 to 1.
	Outside atomic.Int64
}

var (
	expressionErrors = Definition{"spillway_expression_errors_total", "counter", []string{"resource", "class", "key"}, "Evaluations of an expression that failed, by its key: a request for which match failed is not of the class, one for which gap failed has gap 1, one for which by failed is not learned of."}
	gapOutside       = Definition{"spillway_gap_outside_total", "counter", perClass, "Gaps that an expression gave outside 0 to 1; the nearer end was taken."}
)

// expressions adds them.
func (s sink) expressions(resource, class string, seen *Class) {
	e := &seen.Expressions
	s.add(&expressionErrors, float64(e.Match.Load()), resource, class, "match")
	s.add(&expressionErrors, float64(e.Gap.Load()), resource, class, "gap")
	s.add(&expressionErrors, float64(e.By.Load()), resource, class, "by")
	s.add(&gapOutside, float64(e.Outside.Load()), resource, class)
}
