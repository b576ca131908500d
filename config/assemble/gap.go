package assemble

import (
	"math"
	"strings"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/expr"
	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/gap"
	"github.com/spillway-dev/spillway/policy/shed"
)

// Asked is a request that expressions and keys ask.
type Asked interface {
	expr.Request
	// Text is what a key names in it, "" where there is nothing.
	Text(config.Key) string
}

// Gap is how much worse a cheaper answer is for a request of a class, as its
// configuration says it. The zero Gap is that of a class that says nothing. It is not
// changed once made, and safe for concurrent use.
type Gap struct {
	// Says reports whether anything is said, or to be learned.
	Says bool

	prior   shed.Gap // of every request, where there is neither expression nor table
	program *expr.Program
	table   gap.Table
	tabled  bool
	key     config.Key
}

// AsksHeaders reports whether it depends on a request's headers, cookies among them.
func (g *Gap) AsksHeaders() bool {
	return g.program != nil && g.program.Asks("headers") ||
		g.tabled && (g.key.Kind == config.FromHeader || g.key.Kind == config.FromCookie)
}

// Found is how a gap came about.
type Found int

// How a gap came about.
const (
	// Well is as it was meant to.
	Well Found = iota
	// Outside is a number outside 0 to 1: the nearer end was taken.
	Outside
	// Failed is an expression that could not be worked out: the gap is 1.
	Failed
)

// GapOf returns the gap of a class that passed validation. The error is of an
// expression that did not.
func GapOf(c config.Gap) (Gap, error) {
	g := Gap{Says: !c.IsZero()}
	switch {
	case c.Expr != "":
		var err error
		g.program, err = expr.Compile(expr.Gap, c.Expr)
		return g, err
	case len(c.Table.Values)+len(c.Table.Ranges) > 0:
		g.table, g.tabled, g.key = table(c.Table), true, c.Table.Key
	case c.Value > 0:
		g.prior = shed.GapOf(c.Value)
	case !c.Learned.IsZero():
		g.prior = shed.Useless
	}
	return g, nil
}

// Of returns the gap of a request.
func (g *Gap) Of(r Asked) (shed.Gap, Found) {
	switch {
	case g.program != nil:
		x, err := g.program.Number(r)
		if err != nil {
			return shed.Useless, Failed
		}
		if of, outside := gap.Given(x); outside {
			return of, Outside
		} else {
			return of, Well
		}
	case g.tabled && g.key.IsZero():
		return g.table.Of(r.Path()), Well
	case g.tabled:
		return g.table.Of(r.Text(g.key)), Well
	}
	return g.prior, Well
}

func table(t config.GapTable) gap.Table {
	var rows []gap.Row
	for text, x := range t.Values { // order does not matter: the texts differ
		text, rest := strings.CutSuffix(text, "*")
		rows = append(rows, gap.Row{Text: text, Rest: rest, Gap: shed.GapOf(x)})
	}
	var ranges []gap.Range
	for _, r := range t.Ranges {
		ranges = append(ranges, gap.Range{To: r.To, Gap: shed.GapOf(r.Gap)})
	}
	return gap.NewTable(rows, ranges)
}

// Learned is how the gap of a class is learned.
type Learned struct {
	Rule gap.Rule
	// By gives a request's bucket; nil: there is one.
	By *expr.Program
	// Share is how much is sampled, in millionths.
	Share int
	// Seed draws which.
	Seed uint64
}

// LearnedOf returns how the gap of a class that passed validation and has its defaults
// is learned, or nil if it is not. The error is of an expression that did not pass.
func LearnedOf(cfg *config.Config, c config.Class) (*Learned, error) {
	l := c.Gap.Learned
	if l.IsZero() {
		return nil, nil
	}
	learned := &Learned{
		Rule:  gap.Rule{Buckets: l.Buckets, HalfLife: l.HalfLife.D(), Enough: l.Enough},
		Share: int(math.Round(float64(l.Sample) * chance.Whole / 100)),
		Seed:  uint64(cfg.Seed) ^ chance.Key(c.Name),
	}
	if l.By != "" {
		var err error
		if learned.By, err = expr.Compile(expr.Key, l.By); err != nil {
			return nil, err
		}
	}
	return learned, nil
}
