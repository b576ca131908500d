//go:build !nocel

package expr

import (
	"fmt"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
)

// bounded refuses an expression whose cost is not known to be small, whatever is in
// the request, and returns the words that it uses.
func bounded(env *cel.Env, checked *cel.Ast) (map[string]bool, *Problem) {
	w := &walk{tree: checked.NativeRep(), used: make(map[int64]bool), words: make(map[string]bool)}
	ast.PostOrderVisit(w.tree.Expr(), ast.NewExprVisitor(w.visit))
	w.loose()
	if w.first != nil {
		return nil, w.first
	}
	estimate, err := env.EstimateCost(checked, sizes{})
	if err != nil {
		return nil, &Problem{What: "is wrong: " + oneLine(err.Error()), Fix: "mend what it names"}
	}
	if estimate.Max > CostMost {
		return nil, &Problem{
			What: fmt.Sprintf("may cost %d units with values of %d bytes, and %d is the most", estimate.Max, ValueMost, CostMost),
			Fix:  "search for a constant instead of another value of the request, or say less in one expression",
		}
	}
	return w.words, nil
}

// sizes tells how large what is in a request can be.
type sizes struct{}

func (sizes) EstimateSize(n cost.AstNode) *cost.SizeEstimate {
	if t := n.Type(); t != nil && t.Kind() == types.StringKind {
		return &cost.SizeEstimate{Min: 0, Max: ValueMost}
	}
	return nil
}

func (sizes) EstimateCallCost(string, string, *cost.AstNode, []cost.AstNode) *cost.CallEstimate {
	return nil
}

// walk looks at each part of an expression.
type walk struct {
	tree  *ast.AST
	loops []ast.Expr     // query and headers, wherever they stand
	used  map[int64]bool // by id: those that are asked for one name
	words map[string]bool
	first *Problem
}

func (w *walk) visit(e ast.Expr) {
	switch e.Kind() {
	case ast.IdentKind:
		w.words[e.AsIdent()] = true
		if t := w.tree.GetType(e.ID()); t != nil && t.Kind() == types.MapKind {
			w.loops = append(w.loops, e)
		}
	case ast.SelectKind:
		w.used[e.AsSelect().Operand().ID()] = true
	case ast.CallKind:
		w.call(e, e.AsCall())
	case ast.ComprehensionKind:
		if r := e.AsComprehension().IterRange(); w.tree.GetType(r.ID()).Kind() != types.ListKind {
			w.report(r, "goes through something that is not a list", "only lists can be gone through, as in ['a', 'b'].exists(p, path.startsWith(p))")
		}
	}
}

func (w *walk) call(e ast.Expr, c ast.CallExpr) {
	args := c.Args()
	switch c.FunctionName() {
	case operators.Index:
		w.used[args[0].ID()] = true
	case operators.In:
		w.used[args[1].ID()] = true
	case overloads.Matches:
		if args[len(args)-1].Kind() != ast.LiteralKind {
			w.report(e, "matches a pattern that is not a constant", "write the pattern in quotes: one that a caller sends would be its to make dear")
		}
	}
}

// loose refuses query and headers where they stand for all that is in them.
func (w *walk) loose() {
	for _, e := range w.loops {
		if !w.used[e.ID()] {
			w.report(e, e.AsIdent()+" is used as a whole", "ask for one name, as in query.q, headers['X-Kind'] or 'q' in query")
		}
	}
}

func (w *walk) report(e ast.Expr, what, fix string) {
	if w.first != nil {
		return
	}
	at := w.tree.SourceInfo().GetStartLocation(e.ID())
	w.first = &Problem{Line: at.Line(), Column: at.Column() + 1, What: what, Fix: fix}
}
