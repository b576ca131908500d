package house

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// pureStd is what policy/ may import of the standard library: packages that
// compute on values and hold nothing.
var pureStd = []string{
	"bytes", "cmp", "container/heap", "encoding/binary", "errors", "fmt", "hash/fnv", "iter", "maps", "math",
	"math/bits", "slices", "sort", "strconv", "strings", "time", "unicode", "unicode/utf8",
}

// impure says for the likeliest mistakes what to do instead.
var impure = map[string]string{
	"context":      "cancellation is an event the driver reports",
	"crypto/rand":  "chance comes from the one seeded source",
	"io":           "the core does no I/O",
	"log":          "the core explains itself by reasons, not by log lines",
	"log/slog":     "the core explains itself by reasons, not by log lines",
	"math/rand":    "chance comes from the one seeded source",
	"math/rand/v2": "chance comes from the one seeded source",
	"net":          "the core does no I/O",
	"os":           "the core does no I/O",
	"sync":         "one owner drives the core; locks are the gate's",
	"sync/atomic":  "one owner drives the core; locks are the gate's",
	"unsafe":       "the core must run everywhere",
	"C":            "the core must run everywhere",
}

// pureImports finds imports in policy/ that are neither policy/ nor on the list.
func pureImports(t *Tree) []Finding {
	var found []Finding
	for dir, files := range t.dirs() {
		if room, ok := RoomOf(dir); !ok || room.Strict != Pure {
			continue
		}
		for _, file := range files {
			if file.Test || file.Ignored {
				continue
			}
			file.imports(func(spec *ast.ImportSpec, p string) {
				if _, inside := ours(p); inside || slices.Contains(pureStd, p) {
					return
				}
				why, ok := impure[p]
				if !ok {
					why = "policy/ may import policy/ and " + strings.Join(pureStd, ", ")
				}
				found = append(found, Finding{"pure-imports", file.Path, t.line(spec.Pos()), fmt.Sprintf("import %q: %s", p, why)})
			})
		}
	}
	return found
}

// chance finds sources of chance that no seed reaches, in every repeatable room.
func chance(t *Tree) []Finding {
	var found []Finding
	for dir, files := range t.dirs() {
		if room, ok := RoomOf(dir); !ok || room.Strict == Free {
			continue
		}
		for _, file := range files {
			if file.Test || file.Ignored {
				continue
			}
			file.imports(func(spec *ast.ImportSpec, p string) {
				switch p {
				case "math/rand", "math/rand/v2", "crypto/rand", "hash/maphash":
					found = append(found, Finding{"chance", file.Path, t.line(spec.Pos()),
						fmt.Sprintf("import %q: chance comes from the one seeded source, policy/chance or workload's dice", p)})
				}
			})
		}
	}
	return found
}

// oneBuild finds files in policy/ that are built on some machines only, and cgo.
func oneBuild(t *Tree) []Finding {
	var found []Finding
	for dir, files := range t.dirs() {
		if room, ok := RoomOf(dir); !ok || room.Strict != Pure {
			continue
		}
		for _, file := range files {
			if !file.Test && !file.Ignored && constrained(file) {
				found = append(found, Finding{"one-build", file.Path, 0,
					"built on some machines only; policy/ is the same everywhere"})
			}
		}
	}
	return found
}

// constrained reports whether the file has a build line, or a name such as
// x_linux.go that leaves it out here.
func constrained(file *File) bool {
	if !file.Built {
		return true
	}
	for _, group := range file.AST.Comments {
		for _, comment := range group.List {
			if group.Pos() < file.AST.Package && strings.HasPrefix(comment.Text, "//go:build ") {
				return true
			}
		}
	}
	return false
}
