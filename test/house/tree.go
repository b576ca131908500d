package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Module is the import path of the module whose house this is.
const Module = "github.com/spillway-dev/spillway"

// A File is one Go file as text and syntax.
type File struct {
	Path    string // relative to the module, with slashes
	Test    bool   // named _test.go
	Built   bool   // part of the build on the machine that runs the test
	Ignored bool   // marked //go:build ignore: a program run by hand, in no build at all
	Outside bool   // belongs to a module nested in this one, such as bench/
	Src     []byte
	AST     *ast.File
}

// Dir is the folder of the file, relative to the module; "." for its root.
func (f *File) Dir() string { return path.Dir(f.Path) }

// A Tree is a module's Go files, in order of path.
type Tree struct {
	Fset  *token.FileSet
	Files []*File

	typed map[string]*Typed // by folder, filled by Typed
}

// Load reads every Go file below root. It skips testdata and hidden folders, as
// the go command does, and node_modules.
func Load(root string) (*Tree, error) {
	sources := map[string][]byte{}
	nested := map[string]bool{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		base := entry.Name()
		switch {
		case entry.IsDir() && rel != "." && (base[0] == '.' || base[0] == '_' || base == "testdata" || base == "node_modules"):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		case base == "go.mod" && rel != "go.mod":
			nested[path.Dir(rel)] = true
			return nil
		case !strings.HasSuffix(base, ".go"):
			return nil
		}
		src, err := os.ReadFile(name)
		sources[rel] = src
		return err
	})
	if err != nil {
		return nil, err
	}
	return Parse(sources, nested)
}

// Parse makes a tree of sources, by path. Folders in nested are modules of
// their own.
func Parse(sources map[string][]byte, nested map[string]bool) (*Tree, error) {
	tree := &Tree{Fset: token.NewFileSet(), typed: map[string]*Typed{}}
	context := build.Default
	context.OpenFile = func(name string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(sources[filepath.ToSlash(name)])), nil
	}
	for _, name := range sortedKeys(sources) {
		syntax, err := parser.ParseFile(tree.Fset, name, sources[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("parse: %w", err)
		}
		built, err := context.MatchFile(path.Dir(name), path.Base(name))
		if err != nil {
			return nil, fmt.Errorf("%s: build constraint: %w", name, err)
		}
		tree.Files = append(tree.Files, &File{
			Path:    name,
			Test:    strings.HasSuffix(name, "_test.go"),
			Built:   built,
			Ignored: !built && hasIgnoreTag(syntax),
			Outside: outside(name, nested),
			Src:     sources[name],
			AST:     syntax,
		})
	}
	return tree, nil
}

// line returns the line of pos.
func (t *Tree) line(pos token.Pos) int { return t.Fset.Position(pos).Line }

// dirs returns the files of the module by folder, nested modules left out.
func (t *Tree) dirs() map[string][]*File {
	dirs := map[string][]*File{}
	for _, file := range t.Files {
		if !file.Outside {
			dirs[file.Dir()] = append(dirs[file.Dir()], file)
		}
	}
	return dirs
}

// imports calls yield for every import of the file with its unquoted path.
func (f *File) imports(yield func(spec *ast.ImportSpec, importPath string)) {
	for _, spec := range f.AST.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			yield(spec, p)
		}
	}
}

// ours returns the folder of an import of this module.
func ours(importPath string) (dir string, ok bool) {
	if importPath == Module {
		return ".", true
	}
	return strings.CutPrefix(importPath, Module+"/")
}

func hasIgnoreTag(file *ast.File) bool {
	for _, group := range file.Comments {
		if group.Pos() > file.Package {
			break
		}
		for _, comment := range group.List {
			if strings.TrimSpace(comment.Text) == "//go:build ignore" {
				return true
			}
		}
	}
	return false
}

func outside(name string, nested map[string]bool) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if nested[dir] {
			return true
		}
	}
	return false
}
