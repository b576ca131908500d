package house

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"slices"
)

// exactMath is what of package math gives the same bits on every processor:
// IEEE 754 defines these to the last bit, or they only move bits. The rest is
// an approximation, with assembly of its own on some processors.
var exactMath = []string{
	"Abs", "Ceil", "Copysign", "Dim", "FMA", "Float32bits", "Float32frombits", "Float64bits", "Float64frombits",
	"Floor", "Frexp", "Ilogb", "Inf", "IsInf", "IsNaN", "Ldexp", "Logb", "Max", "Min", "Mod", "Modf", "NaN",
	"Nextafter", "Nextafter32", "Remainder", "Round", "RoundToEven", "Signbit", "Sqrt", "Trunc",
}

// inexactMath finds functions of package math whose bits differ between
// processors.
func inexactMath(t *Tree) []Finding {
	return visit(t, "math", Repeatable, func(at place, node ast.Node) string {
		ident, ok := node.(*ast.Ident)
		if !ok {
			return ""
		}
		object, isFunc := at.info.Uses[ident].(*types.Func)
		if !isFunc || !isTop(object, "math") || slices.Contains(exactMath, object.Name()) {
			return ""
		}
		return fmt.Sprintf("math.%s: its bits differ between processors; use the portable one of workload/dice or a table", object.Name())
	})
}

// products finds floating-point products that a compiler may fuse with an
// addition. The language allows that across assignments, and inlining carries
// it across calls, so every product is rounded where it is made: by a
// conversion, as in float64(a*b) + c. A product that is at once divided,
// multiplied or compared cannot be fused, and one by a constant power of two is
// exact, so that fusing it changes nothing.
func products(t *Tree) []Finding {
	return visit(t, "products", Repeatable, func(at place, node ast.Node) string {
		return fusible(at.info, node, at.stack)
	})
}

// fusible says what to write instead when node is a product that nothing rounds.
// The stack holds its ancestors, the nearest last.
func fusible(info *types.Info, node ast.Node, stack []ast.Node) string {
	switch node := node.(type) {
	case *ast.AssignStmt:
		if node.Tok == token.MUL_ASSIGN && isFloat(info, node.Lhs[0]) && !powerOfTwo(info, node.Rhs[0]) {
			x := types.ExprString(node.Lhs[0])
			return fmt.Sprintf("%s *= ...: write %s = float64(%s * ...), so that no processor fuses it", x, x, x)
		}
	case *ast.BinaryExpr:
		if node.Op == token.MUL && isFloat(info, node) && !rounded(info, stack) &&
			!powerOfTwo(info, node.X) && !powerOfTwo(info, node.Y) {
			x := types.ExprString(node)
			return fmt.Sprintf("%s: write float64(%s), so that no processor fuses it with an addition", x, x)
		}
	}
	return ""
}

// rounded reports whether what consumes an expression rounds it first.
func rounded(info *types.Info, ancestors []ast.Node) bool {
	for _, parent := range slices.Backward(ancestors) {
		switch parent := parent.(type) {
		case *ast.ParenExpr:
			continue
		case *ast.UnaryExpr: // -(a*b) + c fuses as well
			continue
		case *ast.CallExpr:
			return info.Types[parent.Fun].IsType() || isMathCall(info, parent)
		case *ast.BinaryExpr:
			return parent.Op != token.ADD && parent.Op != token.SUB
		}
		return false
	}
	return false
}

// isFloat reports whether e has a floating-point type and is not a constant,
// which the compiler computes exactly.
func isFloat(info *types.Info, e ast.Expr) bool {
	tv := info.Types[e]
	if tv.Type == nil || tv.Value != nil {
		return false
	}
	basic, ok := tv.Type.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsFloat != 0
}

// powerOfTwo reports whether e is a constant like 2, 0.5 or 0x1p-53.
func powerOfTwo(info *types.Info, e ast.Expr) bool {
	value := info.Types[e].Value
	if value == nil {
		return false
	}
	x, _ := constant.Float64Val(constant.ToFloat(value))
	fraction, _ := math.Frexp(math.Abs(x))
	return fraction == 0.5
}

func isMathCall(info *types.Info, call *ast.CallExpr) bool {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	object := info.Uses[selector.Sel]
	return object != nil && isTop(object, "math") && object.Name() != "FMA"
}
