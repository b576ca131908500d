package workload

import "strconv"

// Name is the number of a name in a Table: small, dense from 0, so that a
// consumer keeps its counters in a slice. 0 is the empty name.
type Name int32

// Names are the tables that the sources of one run share.
type Names struct {
	Classes, Tenants Table
}

// NewNames returns empty tables that hold as many names as DefaultTableSize.
func NewNames() *Names {
	return &Names{Classes: newTable(DefaultTableSize), Tenants: newTable(DefaultTableSize)}
}

// DefaultTableSize bounds the names a run distinguishes. A trace may come from
// anywhere and name a new tenant on every line; 2^20 names take about 100 MB.
const DefaultTableSize = 1 << 20

// Other is the name that stands for all that no longer fit into a Table.
const Other = "other"

// Table numbers names. Reading while another goroutine adds is a race: a source
// adds as it reads, so look names up where Next is called.
type Table struct {
	names []string
	ids   map[string]Name
	size  int
}

func newTable(size int) Table {
	return Table{names: []string{""}, ids: map[string]Name{"": 0}, size: size}
}

// ID returns the number of name, which it adds if it is new. When the table is
// full, new names share the number of Other.
func (t *Table) ID(name string) Name {
	if id, known := t.ids[name]; known {
		return id
	}
	return t.add(name)
}

// IDBytes is ID without a copy of a name that is known.
func (t *Table) IDBytes(name []byte) Name {
	if id, known := t.ids[string(name)]; known {
		return id
	}
	return t.add(string(name))
}

func (t *Table) add(name string) Name {
	if len(t.names) >= t.size { // the last place is Other's
		name = Other
		if id, known := t.ids[name]; known {
			return id
		}
	}
	id := Name(len(t.names))
	t.names = append(t.names, name)
	t.ids[name] = id
	return id
}

// String returns the name of id.
func (t *Table) String(id Name) string { return t.names[id] }

// Len returns how many numbers are given, the empty name's included.
func (t *Table) Len() int { return len(t.names) }

// SessionString writes a session as a caller would send it: empty for none.
func SessionString(session uint64) string {
	if session == 0 {
		return ""
	}
	return "s" + strconv.FormatUint(session, 36)
}
