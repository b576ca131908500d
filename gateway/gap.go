package gateway

import (
	"fmt"
	"net/http"

	"github.com/spillway-dev/spillway/config/assemble"
	"github.com/spillway-dev/spillway/expr"
	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/shed"
)

// express compiles the expressions of a class that is new.
func (c *class) express() (err error) {
	if text := c.cfg.Match.Expr; text != "" {
		if c.condition, err = expr.Compile(expr.Condition, text); err != nil {
			return fmt.Errorf("class %s: match.expr %w", c.name, err)
		}
	}
	if c.gap, err = assemble.GapOf(c.cfg.Gap); err != nil {
		return fmt.Errorf("class %s: gap.expr %w", c.name, err)
	}
	c.weighs = c.gap.Says && (c.cfg.Sheds() || !c.cfg.Gap.Learned.IsZero())
	return nil
}

// fits reports whether a request that fits the class's pattern fits its expression
// too. One of which that cannot be worked out does not.
func (c *class) fits(r *http.Request) bool {
	if c.condition == nil {
		return true
	}
	is, err := c.condition.Bool(&asked{r: r})
	if err != nil {
		c.seen.Expressions.Match.Add(1)
	}
	return is
}

// weigh returns how much worse a cheaper answer is for a request, and the bucket in
// which that is learned.
func (c *class) weigh(r *http.Request, ask *gate.Request) (of shed.Gap, bucket string) {
	a := &asked{r: r, class: c, ask: ask}
	if c.learning != nil {
		bucket = c.learning.bucketOf(a)
		if of, ok := c.learning.gapOf(bucket); ok {
			return of, bucket
		}
	}
	return c.gapOf(a), bucket
}

// gapOf is how much worse a cheaper answer is for a request, as the configuration
// says it.
func (c *class) gapOf(a *asked) shed.Gap {
	of, found := c.gap.Of(a)
	switch found {
	case assemble.Outside:
		c.seen.Expressions.Outside.Add(1)
	case assemble.Failed:
		c.seen.Expressions.Gap.Add(1)
	}
	return of
}
