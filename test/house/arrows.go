package house

import (
	"fmt"
	"go/ast"
	"strings"
)

// arrows finds imports of this module that the table of rooms does not have,
// and packages that no row takes in. Files for other systems count as well.
func arrows(t *Tree) []Finding {
	var found []Finding
	for _, dir := range sortedKeys(t.dirs()) {
		files := t.dirs()[dir]
		room, known := RoomOf(dir)
		if !known {
			found = append(found, Finding{"arrows", files[0].Path, 0,
				fmt.Sprintf("room %q is not in the table: add the room to the table in test/house/rooms.go and run `make docs` for docs/house.md", dir)})
			continue
		}
		for _, file := range files {
			file.imports(func(spec *ast.ImportSpec, p string) {
				target, inside := ours(p)
				if !inside || room.Allows(target, file.Test) {
					return
				}
				found = append(found, Finding{"arrows", file.Path, t.line(spec.Pos()),
					fmt.Sprintf("%s may not import %s; it may import %s", room.Path, target, mayImport(room))})
			})
		}
	}
	return found
}

// mayImport lists a room's arrows for a person.
func mayImport(room Room) string {
	if len(room.MayImport) == 0 {
		return "nothing of ours"
	}
	return strings.Join(room.MayImport, ", ")
}
