package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A place is a node of a typed file with its ancestors, the nearest last.
type place struct {
	info  *types.Info
	file  *File
	stack []ast.Node
}

// visit calls check for every node of every package at least as strict as
// strict, and collects what it says.
func visit(t *Tree, rule string, strict Strictness, check func(at place, node ast.Node) string) []Finding {
	pkgs, err := t.Typed(strict)
	if err != nil {
		return []Finding{{rule, "go.mod", 0, err.Error()}}
	}
	var found []Finding
	for _, pkg := range pkgs {
		for _, file := range pkg.Files {
			at := place{info: pkg.Info, file: file}
			ast.Inspect(file.AST, func(node ast.Node) bool {
				if node == nil {
					at.stack = at.stack[:len(at.stack)-1]
					return false
				}
				if what := check(at, node); what != "" {
					found = append(found, Finding{rule, file.Path, t.line(node.Pos()), what})
				}
				at.stack = append(at.stack, node)
				return true
			})
		}
	}
	return found
}

// compiles reports what the type checker objected to, since a rule that reads
// types would otherwise pass for want of them.
func compiles(t *Tree) []Finding {
	pkgs, err := t.Typed(Repeatable)
	if err != nil {
		return []Finding{{"compiles", "go.mod", 0, err.Error()}}
	}
	var found []Finding
	for _, pkg := range pkgs {
		for _, err := range pkg.Errors {
			finding := Finding{"compiles", pkg.Dir, 0, err.Error()}
			if typeError, ok := err.(types.Error); ok {
				position := t.Fset.Position(typeError.Pos)
				finding = Finding{"compiles", position.Filename, position.Line, typeError.Msg}
			}
			found = append(found, finding)
		}
	}
	return found
}

// pureSyntax finds goroutines, channels and printing in policy/.
func pureSyntax(t *Tree) []Finding {
	return visit(t, "pure-syntax", Pure, func(at place, node ast.Node) string {
		switch node := node.(type) {
		case *ast.GoStmt:
			return "go statement: the core starts nothing; append an effect for the driver"
		case *ast.ChanType:
			return "channel type: the core is called, it does not communicate"
		case *ast.SendStmt:
			return "channel send: the core is called, it does not communicate"
		case *ast.SelectStmt:
			return "select: the core never waits"
		case *ast.UnaryExpr:
			if node.Op == token.ARROW {
				return "channel receive: the core never waits"
			}
		case *ast.RangeStmt:
			if under[*types.Chan](at.info.TypeOf(node.X)) {
				return "range over a channel: the core never waits"
			}
		case *ast.Ident:
			switch object := at.info.Uses[node].(type) {
			case *types.Builtin:
				if object.Name() == "print" || object.Name() == "println" {
					return object.Name() + ": the core does no I/O"
				}
			case *types.Func:
				if isTop(object, "fmt") && (strings.HasPrefix(object.Name(), "Print") || strings.Contains(object.Name(), "can")) {
					return "fmt." + object.Name() + ": the core does no I/O"
				}
			}
		}
		return ""
	})
}

// wallClock is what package time has beyond arithmetic.
var wallClock = []string{
	"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Local", "LoadLocation",
}

// clocks finds uses of a clock, a timer or the machine's time zone.
func clocks(t *Tree) []Finding {
	return visit(t, "clock", Repeatable, func(at place, node ast.Node) string {
		ident, ok := node.(*ast.Ident)
		if !ok {
			return ""
		}
		object := at.info.Uses[ident]
		if object == nil || !isTop(object, "time") || !slices.Contains(wallClock, object.Name()) {
			return ""
		}
		return fmt.Sprintf("time.%s: time is an argument here; the driver reads the clock once an event", object.Name())
	})
}

// mapOrder finds ranges over a map that do not say why their order is of no
// matter. The comment stands on the line of the range.
func mapOrder(t *Tree) []Finding {
	return visit(t, "map-order", Repeatable, func(at place, node ast.Node) string {
		switch node := node.(type) {
		case *ast.RangeStmt:
			if under[*types.Map](at.info.TypeOf(node.X)) && !excused(t, at.file, node.For) {
				return "range over a map: sort the keys, or end this line with `// order does not matter: <why>`"
			}
		case *ast.Ident:
			object, isFunc := at.info.Uses[node].(*types.Func)
			if isFunc && isTop(object, "maps") && slices.Contains([]string{"All", "Keys", "Values"}, object.Name()) &&
				!sorted(at) && !excused(t, at.file, node.Pos()) {
				return fmt.Sprintf("maps.%s: write slices.Sorted(maps.%[1]s(m)), or end this line with `// order does not matter: <why>`", object.Name())
			}
		}
		return ""
	})
}

// sorted reports whether the function of package maps at this place is called in
// the argument of a sorting function of package slices.
func sorted(at place) bool {
	for _, ancestor := range at.stack {
		call, ok := ancestor.(*ast.CallExpr)
		if !ok {
			continue
		}
		if selector, ok := call.Fun.(*ast.SelectorExpr); ok {
			object := at.info.Uses[selector.Sel]
			if object != nil && isTop(object, "slices") && strings.HasPrefix(object.Name(), "Sorted") {
				return true
			}
		}
	}
	return false
}

// excused reports whether the line of pos ends in an excuse with a reason.
func excused(t *Tree, file *File, pos token.Pos) bool {
	for _, group := range file.AST.Comments {
		for _, comment := range group.List {
			why, ok := strings.CutPrefix(comment.Text, "// order does not matter: ")
			if ok && strings.TrimSpace(why) != "" && t.line(comment.Pos()) == t.line(pos) {
				return true
			}
		}
	}
	return false
}

// isTop reports whether object is declared at the top of the named package, so
// not a method.
func isTop(object types.Object, importPath string) bool {
	return object.Pkg() != nil && object.Pkg().Path() == importPath && object.Parent() == object.Pkg().Scope()
}

// under reports whether the underlying type of t is a T.
func under[T types.Type](t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(T)
	return ok
}
