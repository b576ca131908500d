package hostile_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// TestAdminTokenInConstantTime: how long a token takes to be turned away says
// nothing about it. A test that measures time would measure the machine; this one
// reads the code, and code that must not pass.
func TestAdminTokenInConstantTime(t *testing.T) {
	if say := leaks(t, "../../gateway/admin.go", nil); say != "" {
		t.Error(say)
	}
	const head = "package p\nfunc mayAsk(given, token string) bool { "
	for _, careless := range []string{
		"return given == token }",
		"return bytes.Equal([]byte(given), []byte(token)) }",
		"return strings.HasPrefix(given, token) && subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1 }",
		"return given == \"\" }",
	} {
		if leaks(t, "", head+careless) == "" {
			t.Errorf("passed: %s", careless)
		}
	}
}

// leaks says what of mayAsk compares two things in a time that depends on them, ""
// if nothing does. What is compared with a literal is no secret.
func leaks(t *testing.T, file string, source any) (say string) {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	constant := false
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); !ok || fn.Name.Name != "mayAsk" {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			var two []ast.Expr
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if slices.Contains([]token.Token{token.EQL, token.NEQ, token.LSS, token.GTR, token.LEQ, token.GEQ}, n.Op) {
					two = []ast.Expr{n.X, n.Y}
				}
			case *ast.CallExpr:
				called, ok := n.Fun.(*ast.SelectorExpr)
				switch {
				case !ok:
				case called.Sel.Name == "ConstantTimeCompare":
					constant = true
				case slices.Contains([]string{"Equal", "EqualFold", "Compare", "HasPrefix", "HasSuffix", "Contains"}, called.Sel.Name):
					two = n.Args
				}
			}
			if len(two) > 0 && !slices.ContainsFunc(two, func(e ast.Expr) bool { _, ok := e.(*ast.BasicLit); return ok }) {
				say = fmt.Sprintf("%s: a comparison that ends where two things begin to differ", set.Position(n.Pos()))
			}
			return true
		})
	}
	if !constant {
		return "mayAsk compares nothing in constant time"
	}
	return say
}
