package house

import (
	"bufio"
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
)

// A Typed package is the non-test part of a folder after type-checking.
type Typed struct {
	Dir    string
	Files  []*File
	Types  *types.Package
	Info   *types.Info
	Errors []error // what the type checker objected to
}

// Typed type-checks the packages whose room is at least as strict as the given
// strictness, and returns them in order of folder. What they import of this
// module is checked from the tree, the rest is read from the build cache's
// export data, so the whole takes a second or two.
func (t *Tree) Typed(strict Strictness) ([]*Typed, error) {
	if err := t.checkStrict(); err != nil {
		return nil, err
	}
	var pkgs []*Typed
	for _, dir := range sortedKeys(t.typed) {
		if room, ok := RoomOf(dir); ok && room.Strict >= strict {
			pkgs = append(pkgs, t.typed[dir])
		}
	}
	return pkgs, nil
}

// checkStrict fills t.typed once, with every strict package and what it imports.
func (t *Tree) checkStrict() error {
	if len(t.typed) > 0 {
		return nil
	}
	dirs := t.dirs()
	outer := map[string]bool{} // import paths that are not ours
	reached := map[string]bool{}
	var reach func(dir string)
	reach = func(dir string) {
		if reached[dir] {
			return
		}
		reached[dir] = true
		for _, file := range buildable(dirs[dir]) {
			file.imports(func(_ *ast.ImportSpec, p string) {
				if inner, ok := ours(p); ok {
					reach(inner)
				} else if p != "unsafe" {
					outer[p] = true
				}
			})
		}
	}
	for dir := range dirs {
		if room, ok := RoomOf(dir); ok && room.Strict > Free {
			reach(dir)
		}
	}
	exports, err := exportData(sortedKeys(outer))
	if err != nil {
		return err
	}
	c := &checker{tree: t, dirs: dirs, outer: importer.ForCompiler(t.Fset, "gc", func(p string) (io.ReadCloser, error) {
		file, ok := exports[p]
		if !ok {
			return nil, fmt.Errorf("no export data for %q", p)
		}
		return os.Open(file)
	})}
	for _, dir := range sortedKeys(reached) {
		if len(buildable(dirs[dir])) > 0 {
			c.check(dir)
		}
	}
	return nil
}

// checker is the importer that finds our own packages in the tree.
type checker struct {
	tree  *Tree
	dirs  map[string][]*File
	outer types.Importer
}

// Import implements [types.Importer].
func (c *checker) Import(importPath string) (*types.Package, error) {
	dir, ok := ours(importPath)
	if !ok {
		return c.outer.Import(importPath)
	}
	if len(buildable(c.dirs[dir])) == 0 {
		return nil, fmt.Errorf("no Go files in %s", dir)
	}
	typed := c.check(dir)
	if typed.Types == nil {
		return nil, fmt.Errorf("import cycle through %s", dir)
	}
	return typed.Types, nil
}

func (c *checker) check(dir string) *Typed {
	if typed := c.tree.typed[dir]; typed != nil {
		return typed
	}
	typed := &Typed{Dir: dir, Files: buildable(c.dirs[dir]), Info: &types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}}
	c.tree.typed[dir] = typed
	var syntax []*ast.File
	for _, file := range typed.Files {
		syntax = append(syntax, file.AST)
	}
	config := types.Config{Importer: c, Error: func(err error) { typed.Errors = append(typed.Errors, err) }}
	typed.Types, _ = config.Check(Module+"/"+dir, c.tree.Fset, syntax, typed.Info)
	return typed
}

// buildable leaves out tests and files that this machine does not build.
func buildable(files []*File) []*File {
	var out []*File
	for _, file := range files {
		if file.Built && !file.Test {
			out = append(out, file)
		}
	}
	return out
}

// known keeps the answers of listExports, since many small trees ask the same.
var known sync.Map // joined import paths -> map[string]string

// exportData returns the files with export data of the named packages and of all
// they depend on, by import path. It is safe for concurrent use.
func exportData(importPaths []string) (map[string]string, error) {
	key := strings.Join(importPaths, " ")
	if files, ok := known.Load(key); ok {
		return files.(map[string]string), nil
	}
	files, err := listExports(importPaths)
	if err == nil {
		known.Store(key, files)
	}
	return files, err
}

// listExports asks the go command, which compiles what it has to.
func listExports(importPaths []string) (map[string]string, error) {
	files := map[string]string{}
	if len(importPaths) == 0 {
		return files, nil
	}
	args := append([]string{"list", "-e", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}", "--"}, importPaths...)
	cmd := exec.Command("go", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list -export: %w: %s", err, stderr.Bytes())
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		if p, file, ok := strings.Cut(lines.Text(), "\t"); ok && file != "" {
			files[p] = file
		}
	}
	return files, lines.Err()
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
