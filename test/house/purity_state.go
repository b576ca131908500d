package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// packageState finds package-level variables of policy/ that something changes,
// or could: those that are assigned, indexed into, taken the address of or
// called with a pointer receiver, those that are exported (another package could
// assign them) unless they are error sentinels, and init functions. Tables that
// nothing changes are fine.
func packageState(t *Tree) []Finding {
	found := visit(t, "state", Pure, func(at place, node ast.Node) string {
		info := at.info
		switch node := node.(type) {
		case *ast.FuncDecl:
			if node.Recv == nil && node.Name.Name == "init" {
				return "func init: a table is written out, or made by the value that owns it"
			}
		case *ast.AssignStmt:
			for _, target := range node.Lhs {
				if name := packageVar(info, target); name != "" && node.Tok != token.DEFINE {
					return changed(name, "is assigned")
				}
			}
		case *ast.IncDecStmt:
			return changed(packageVar(info, node.X), "is counted")
		case *ast.RangeStmt:
			if node.Tok == token.ASSIGN {
				return changed(packageVar(info, node.Key), "is assigned")
			}
		case *ast.UnaryExpr:
			if node.Op == token.AND {
				return changed(packageVar(info, node.X), "has its address taken")
			}
		case *ast.SelectorExpr:
			if takesPointer(info, node) {
				return changed(packageVar(info, node.X), "is the receiver of a method that may change it")
			}
		case *ast.CallExpr:
			if ident, ok := node.Fun.(*ast.Ident); ok && len(node.Args) > 0 {
				if builtin, ok := info.Uses[ident].(*types.Builtin); ok {
					switch builtin.Name() {
					case "clear", "delete", "copy":
						return changed(packageVar(info, node.Args[0]), "is changed by "+builtin.Name())
					}
				}
			}
		}
		return ""
	})
	return append(found, exportedVars(t)...)
}

func changed(name, how string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("package variable %s %s: state lives in a value that the driver owns", name, how)
}

// exportedVars finds exported package variables that are no error sentinels.
func exportedVars(t *Tree) []Finding {
	pkgs, err := t.Typed(Pure)
	if err != nil {
		return []Finding{{"state", "go.mod", 0, err.Error()}}
	}
	errorType := types.Universe.Lookup("error").Type().Underlying().(*types.Interface)
	var found []Finding
	for _, pkg := range pkgs {
		if pkg.Types == nil {
			continue
		}
		for _, name := range pkg.Types.Scope().Names() {
			object, ok := pkg.Types.Scope().Lookup(name).(*types.Var)
			if !ok || !object.Exported() || types.Implements(object.Type(), errorType) {
				continue
			}
			position := t.Fset.Position(object.Pos())
			found = append(found, Finding{"state", position.Filename, position.Line,
				fmt.Sprintf("exported variable %s: another package could assign it; make it a constant or a function", name)})
		}
	}
	return found
}

// packageVar returns the name of the package-level variable that e is part of,
// or "".
func packageVar(info *types.Info, e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.SelectorExpr:
			if object, ok := info.Uses[x.Sel].(*types.Var); ok && isPackageLevel(object) {
				return types.ExprString(x)
			}
			e = x.X
		case *ast.Ident:
			if object, ok := info.Uses[x].(*types.Var); ok && isPackageLevel(object) {
				return x.Name
			}
			return ""
		default:
			return ""
		}
	}
}

func isPackageLevel(v *types.Var) bool {
	return v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
}

// takesPointer reports whether the selector calls or binds a method whose
// receiver is a pointer on something that is not one.
func takesPointer(info *types.Info, selector *ast.SelectorExpr) bool {
	selection := info.Selections[selector]
	if selection == nil || selection.Kind() != types.MethodVal {
		return false
	}
	method := selection.Obj().Type().(*types.Signature)
	return under[*types.Pointer](method.Recv().Type())
}
