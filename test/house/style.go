package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strings"
)

// maxLines is how long a Go file may get: past it nobody holds it in mind at
// once. Most are far shorter.
const maxLines = 500

func length(t *Tree) []Finding {
	var found []Finding
	for _, file := range t.Files {
		if n := bytes.Count(file.Src, []byte("\n")); n > maxLines {
			found = append(found, Finding{"length", file.Path, 0, fmt.Sprintf("%d lines, more than %d: split it by idea", n, maxLines)})
		}
	}
	return found
}

// packageDoc finds packages without a doc.go that says what they are. Folders
// with nothing but tests, and programs run by hand, need none.
func packageDoc(t *Tree) []Finding {
	documented := map[string]bool{}
	first := map[string]*File{}
	for _, file := range t.Files {
		if file.Test || file.Ignored {
			continue
		}
		if first[file.Dir()] == nil {
			first[file.Dir()] = file
		}
		if path.Base(file.Path) == "doc.go" && file.AST.Doc.Text() != "" {
			documented[file.Dir()] = true
		}
	}
	var found []Finding
	for _, dir := range sortedKeys(first) {
		if !documented[dir] {
			found = append(found, Finding{"package-doc", first[dir].Path, 0,
				"no doc.go with a package comment: say what the package is for and where to start"})
		}
	}
	return found
}

// openEnds are the words that mark what is not done.
var openEnds = regexp.MustCompile(`\b(?:TO` + `DO|FIX` + `ME|XX` + `X)\b`)

func unfinished(t *Tree) []Finding {
	var found []Finding
	for _, file := range t.Files {
		for _, group := range file.AST.Comments {
			for _, comment := range group.List {
				if word := openEnds.FindString(comment.Text); word != "" {
					found = append(found, Finding{"unfinished", file.Path, t.line(comment.Pos()), word + ": do it, or open an issue"})
				}
			}
		}
		ast.Inspect(file.AST, func(node ast.Node) bool {
			if call, ok := node.(*ast.CallExpr); ok && calls(file, call, "context", "TO"+"DO") {
				found = append(found, Finding{"unfinished", file.Path, t.line(call.Pos()), "a context that nobody has decided on: pass the caller's, or context.Background()"})
			}
			return true
		})
	}
	return found
}

// sleeps finds time.Sleep in tests, except inside a call of synctest.Test, or of
// a function beside it that calls that, where it moves the bubble's clock and
// takes no time.
func sleeps(t *Tree) []Finding {
	var found []Finding
	makers := bubbleMakers(t)
	for _, file := range t.Files {
		if !file.Test {
			continue
		}
		ast.Inspect(file.AST, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			switch {
			case !ok:
			case calls(file, call, "testing/synctest", "Test"):
				return false
			case makesBubble(call, makers[file.Dir()]):
				return false
			case calls(file, call, "time", "Sleep"):
				found = append(found, Finding{"sleep", file.Path, t.line(call.Pos()),
					"time.Sleep in a test: wait for the event itself, or run in a synctest.Test bubble"})
			}
			return true
		})
	}
	return found
}

// bubbleMakers returns by folder the names of test functions that take a testing
// function further into a bubble.
func bubbleMakers(t *Tree) map[string]map[string]bool {
	makers := map[string]map[string]bool{}
	for _, file := range t.Files {
		if !file.Test {
			continue
		}
		for _, declaration := range file.AST.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if !ok || f.Recv != nil {
				continue
			}
			ast.Inspect(f, func(node ast.Node) bool {
				if call, ok := node.(*ast.CallExpr); ok && calls(file, call, "testing/synctest", "Test") {
					if makers[file.Dir()] == nil {
						makers[file.Dir()] = map[string]bool{}
					}
					makers[file.Dir()][f.Name.Name] = true
				}
				return true
			})
		}
	}
	return makers
}

func makesBubble(call *ast.CallExpr, makers map[string]bool) bool {
	ident, ok := call.Fun.(*ast.Ident)
	return ok && makers[ident.Name]
}

// calls reports whether call is pkg.name, whatever the file names the package.
func calls(file *File, call *ast.CallExpr, importPath, name string) bool {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != name {
		return false
	}
	ident, ok := selector.X.(*ast.Ident)
	if !ok {
		return false
	}
	var match bool
	file.imports(func(spec *ast.ImportSpec, p string) {
		local := path.Base(p)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		match = match || p == importPath && local == ident.Name
	})
	return match
}

// exportedDoc finds exported names without a comment. A group's comment, or one
// at the end of the line, serves for constants and variables.
func exportedDoc(t *Tree) []Finding {
	var found []Finding
	for _, file := range t.Files {
		if file.Test || file.Ignored || file.AST.Name.Name == "main" {
			continue
		}
		say := func(pos token.Pos, name string) {
			found = append(found, Finding{"exported-doc", file.Path, t.line(pos), name + " is exported and has no comment"})
		}
		for _, declaration := range file.AST.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc.Text() == "" && exportedReceiver(d) {
					say(d.Pos(), d.Name.Name)
				}
			case *ast.GenDecl:
				undocumented(d, say)
			}
		}
	}
	return found
}

func undocumented(d *ast.GenDecl, say func(token.Pos, string)) {
	grouped := d.Doc.Text() != ""
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			single := !d.Lparen.IsValid() && grouped
			if s.Name.IsExported() && s.Doc.Text() == "" && s.Comment.Text() == "" && !single {
				say(s.Pos(), s.Name.Name)
			}
		case *ast.ValueSpec:
			for _, name := range s.Names {
				if name.IsExported() && !grouped && s.Doc.Text() == "" && s.Comment.Text() == "" {
					say(name.Pos(), name.Name)
				}
			}
		}
	}
}

// exportedReceiver reports whether d is a function, or a method of an exported
// type.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return ast.IsExported(strings.TrimSpace(x.Name))
		default:
			return true
		}
	}
}
