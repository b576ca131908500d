package config

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spillway-dev/spillway/expr"
)

// Gap is how much worse the cheaper answer is for a request: a figure, an expression
// or a table, and what is learned, which replaces it where enough is known.
type Gap struct {
	Value   float64  `yaml:"value" min:"0" max:"1" doc:"The same for every request of the class."`
	Expr    string   `yaml:"expr" doc:"A CEL expression over the request that gives a number; see docs/gap.md for what it may say. What lies outside 0 to 1 counts as the nearer end and is counted; one that cannot be worked out counts as 1."`
	Table   GapTable `yaml:"table" doc:"Looked up by a text of the request."`
	Learned Learned  `yaml:"learned" doc:"Measured on a sample of requests that the primary and a cheaper rung both answer. Until enough is known, value, expr or table holds; without them 1, so that what is not known is not shed first."`
}

// IsZero reports whether nothing is said: then all requests are alike.
func (g Gap) IsZero() bool {
	return g.Value == 0 && g.Expr == "" && g.Table.isZero() && g.Learned.IsZero()
}

// GapTable looks gaps up.
type GapTable struct {
	Key    Key                `yaml:"key" doc:"What is looked up. Default: the path."`
	Values map[string]float64 `yaml:"values" min:"0" max:"1" items:"10000" doc:"From a text to its gap. A text is exact, or with a final * any that begins with it; of several the longest counts. What nothing fits has gap 1; * alone fits everything."`
	Ranges []GapRange         `yaml:"ranges" items:"100" doc:"From numbers to their gap, before what ends in *."`
}

func (t GapTable) isZero() bool { return t.Key.IsZero() && len(t.Values) == 0 && len(t.Ranges) == 0 }

// GapRange gives the gap of numbers from those of the range below it up to To.
type GapRange struct {
	To  float64 `yaml:"to" required:"true" min:"-1e15" max:"1e15" doc:"The largest number of the range."`
	Gap float64 `yaml:"gap" min:"0" max:"1" default:"0" doc:"Their gap."`
}

// Learned is a gap measured on a sample of requests that both rungs answer.
type Learned struct {
	Compare  Compare  `yaml:"compare" required:"true" doc:"How two answers are compared: exact, status, or keys."`
	By       string   `yaml:"by" doc:"A CEL expression over the request that gives text: requests with the same text are a bucket, learned of together. Default: all are one."`
	Sample   Percent  `yaml:"sample" default:"1%" min:"0.001%" max:"100%" doc:"Share of the primary's answers that are compared, while there is capacity to spare."`
	Method   Words    `yaml:"method" items:"16" doc:"Methods of requests that may be put to the cheaper rung besides. Default: GET; others may do twice what they do."`
	AtOnce   int      `yaml:"at_once" default:"1" min:"1" max:"64" doc:"Comparisons at once."`
	Body     Bytes    `yaml:"body" default:"64KiB" min:"1KiB" max:"1MiB" doc:"Answers with a larger body are not compared."`
	Buckets  int      `yaml:"buckets" default:"64" min:"1" max:"1024" doc:"How many buckets are learned of; those seen least have no place."`
	Enough   int      `yaml:"enough" default:"30" min:"10" max:"100000" doc:"From how many samples on a bucket's estimate counts."`
	HalfLife Duration `yaml:"half_life" default:"1h" min:"1m" max:"720h" doc:"After how long a sample counts half."`
}

// IsZero reports whether nothing is to be learned.
func (l Learned) IsZero() bool { return l.Compare == Compare{} }

// Compare is how far a cheaper answer is from the primary's: one of its ways.
type Compare struct {
	Word    CompareWord `yaml:"-"` // always set where something was written
	Field   string      `yaml:"field" doc:"Way to a value in both JSON bodies, such as result.0.id, or . for all of it: 0 if they are equal, else 1."`
	Number  string      `yaml:"number" doc:"Way to a number in both: how far apart they are, as a part of scale."`
	Scale   float64     `yaml:"scale" min:"1e-15" max:"1e15" doc:"For number: the difference from which on the answer is useless. Default: the larger of the two."`
	Overlap string      `yaml:"overlap" doc:"Way to a list in both: the share of the primary's first ones that are not among the other's."`
	Top     int         `yaml:"top" default:"10" min:"1" max:"1000" doc:"For overlap: how many are the first."`
	ID      string      `yaml:"id" doc:"For overlap: the way to what tells an element from others, within it. Default: all of it."`
}

// CompareWord is one of the ways to compare two answers.
type CompareWord string

// The ways.
const (
	CompareExact   CompareWord = "exact"   // status and body are the same
	CompareStatus  CompareWord = "status"  // the status is the same
	CompareField   CompareWord = "field"   // Compare.Field
	CompareNumber  CompareWord = "number"  // Compare.Number
	CompareOverlap CompareWord = "overlap" // Compare.Overlap
)

var compareWords = []string{"exact", "status"}

func (c *Compare) parse(_, text string) error {
	if !slices.Contains(compareWords, text) {
		return bad(oneOf(text, compareWords)+", or { field: name }, { number: name } or { overlap: name }", "%s is no way to compare answers", quote(text))
	}
	c.Word = CompareWord(text)
	return nil
}

func (c Compare) format() string       { return string(c.Word) }
func (c Compare) hasScalar() bool      { return slices.Contains(compareWords, string(c.Word)) }
func (Compare) kind() string           { return strings.Join(compareWords, ", ") }
func (Compare) schema() map[string]any { return map[string]any{"enum": anys(compareWords)} }

// finish derives Word from the key that was written.
func (c *Compare) finish() error {
	var said []CompareWord
	for _, k := range []struct {
		word CompareWord
		way  string
	}{{CompareField, c.Field}, {CompareNumber, c.Number}, {CompareOverlap, c.Overlap}} {
		if k.way != "" {
			said = append(said, k.word)
		}
	}
	switch {
	case len(said) == 0:
		return bad("write exact, status, { field: name }, { number: name } or { overlap: name }", "nothing says how answers are compared")
	case len(said) > 1:
		return bad("keep one", "%s and %s exclude each other", said[0], said[1])
	}
	c.Word = said[0]
	switch {
	case c.Scale != 0 && c.Word != CompareNumber:
		return bad("remove it", "scale means nothing without number")
	case (c.Top != 0 || c.ID != "") && c.Word != CompareOverlap:
		return bad("remove them", "top and id mean nothing without overlap")
	}
	return nil
}

func (g *Gap) fill() {
	l := &g.Learned
	if l.IsZero() {
		return
	}
	if l.Compare.Word == CompareOverlap {
		l.Compare.Top = cmp.Or(l.Compare.Top, 10)
	}
	l.Sample = cmp.Or(l.Sample, 1)
	if len(l.Method) == 0 {
		l.Method = Words{"GET"} // an answer to HEAD says too little
	}
	l.AtOnce = cmp.Or(l.AtOnce, 1)
	l.Body = cmp.Or(l.Body, 64<<10) // lists and scores fit, pages seldom need comparing
	l.Buckets = cmp.Or(l.Buckets, 64)
	l.Enough = cmp.Or(l.Enough, 30) // as a rule of thumb from where on a mean is one
	l.HalfLife = cmp.Or(l.HalfLife, Duration(3600e9))
}

// gap checks what is said of a class's gap.
func (k *checker) gap(g Gap, d Class, at string) {
	if g.IsZero() {
		return
	}
	switch {
	case len(d.Ladder) > 0:
	case !g.Learned.IsZero():
		k.report(join(at, "learned"), "add ladder: with a cheaper answer, or remove it", "means nothing without a ladder: there is nothing to compare with")
	case !d.Sheds():
		k.report(at, "add ladder: with a cheaper answer, or remove it", "means nothing without a ladder, or shed")
	}
	var said []string
	for _, way := range []struct {
		key string
		is  bool
	}{{"value", g.Value != 0}, {"expr", g.Expr != ""}, {"table", !g.Table.isZero()}} {
		if way.is {
			said = append(said, way.key)
		}
	}
	if len(said) > 1 {
		k.report(join(at, said[1]), "keep one", "contradicts %s", said[0])
	}
	k.expression(expr.Gap, g.Expr, join(at, "expr"))
	k.gapTable(g.Table, join(at, "table"))
	k.learned(g.Learned, join(at, "learned"))
}

func (k *checker) gapTable(t GapTable, at string) {
	if !t.Key.IsZero() && len(t.Values) == 0 && len(t.Ranges) == 0 {
		k.report(at, "add values or ranges", "has nothing in it")
	}
	for text := range t.Values { // order does not matter: problems are sorted by their place
		if strings.Contains(strings.TrimSuffix(text, "*"), "*") {
			k.report(join(join(at, "values"), text), "keep one * at the end", "has a * in the middle")
		}
	}
	for i, r := range t.Ranges {
		if i > 0 && r.To <= t.Ranges[i-1].To {
			k.report(join(join(join(at, "ranges"), strconv.Itoa(i)), "to"), "put them in order, each larger than the one before", "is not above the one before")
		}
	}
}

func (k *checker) learned(l Learned, at string) {
	if l.IsZero() {
		return
	}
	k.compare(l.Compare, join(at, "compare"))
	for _, way := range []struct{ key, text string }{
		{"field", l.Compare.Field}, {"number", l.Compare.Number}, {"overlap", l.Compare.Overlap}, {"id", l.Compare.ID},
	} {
		if len(way.text) > 256 || strings.Contains("."+way.text, "..") && way.text != "." {
			k.report(join(join(at, "compare"), way.key), "write names and places in lists with dots between, as in result.0.id, or . for all of it", "is %s", quote(way.text))
		}
	}
	for i, m := range l.Method {
		if !isToken(m) || m != strings.ToUpper(m) {
			k.report(k.item(join(at, "method"), i), "write it in capitals, as in GET", "is %s", quote(m))
		}
	}
	k.expression(expr.Key, l.By, join(at, "by"))
}

// compare catches what only Go can make: a word that contradicts the keys.
func (k *checker) compare(c Compare, at string) {
	again := c
	again.Word = ""
	err := again.finish()
	if err != nil && c.hasScalar() {
		err = again.parse("!!str", string(c.Word))
	}
	if err == nil && again.Word != c.Word {
		err = bad("set Word to match", "word %s contradicts the keys", quote(string(c.Word)))
	}
	if err != nil {
		p := err.(*problem)
		k.report(at, p.fix, "%s", p.what)
	}
}

// expression refuses a text that is no expression of its kind.
func (k *checker) expression(kind expr.Kind, text, at string) {
	if text == "" {
		if k.written(at) {
			k.report(at, "write an expression, or remove the key", "is empty")
		}
		return
	}
	_, err := expr.Compile(kind, text)
	p, ok := errors.AsType[*expr.Problem](err)
	switch {
	case !ok:
	case p.Line > 1:
		k.report(at, p.Fix, "%s (in its line %d, character %d)", p.What, p.Line, p.Column)
	case p.Line == 1:
		k.report(at, p.Fix, "%s (at its character %d)", p.What, p.Column)
	default:
		k.report(at, p.Fix, "%s", p.What)
	}
}
