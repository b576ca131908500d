package boundary

import (
	"github.com/spillway-dev/spillway/policy/limit"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/rate"
	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Memory is what a machine has learned and what clients have used up, as a value:
// what another machine needs to begin where this one is, whatever its clock says.
// What waits and runs is not part of it, nor are counts, nor who was served: they
// stay with the machine whose they are.
type Memory struct {
	Classes []ClassMemory `json:"classes"`
	// Limit is what was learned of the resource's limit, if that adapts.
	Limit *limit.Measured `json:"limit,omitempty"`
	// Clients are those who have used up something, at most as many as were asked
	// for. Their keys mean something only under the same salt.
	Clients []rate.Used `json:"clients"`
}

// ClassMemory is what was measured in a class.
type ClassMemory struct {
	Name     string        `json:"name"`
	Measured pool.Measured `json:"measured"`
	Shed     *shed.Memory  `json:"shed,omitempty"` // where the class sheds
}

// Export returns what the machine remembers at now, with the clients who have used
// up the most, at most that many. It changes nothing. It looks at all of the table
// of clients: a few milliseconds.
func (m *Machine) Export(now unit.Instant, clients int) Memory {
	mem := Memory{Classes: []ClassMemory{}, Limit: m.exportLimit(), Clients: []rate.Used{}}
	for _, c := range m.classes {
		if !c.closed {
			mem.Classes = append(mem.Classes, c.export())
		}
	}
	if m.clients != nil {
		mem.Clients = append(mem.Clients, m.clients.Export(max(now, m.now), clients)...)
	}
	return mem
}

func (c *class) export() ClassMemory {
	mem := ClassMemory{Name: c.Name, Measured: c.Pool.Export()}
	if c.law != nil {
		law := c.law.Export()
		mem.Shed = &law
	}
	return mem
}

// Import has the machine remember what another one did, of the classes that it has
// and, where it limits them, of clients: what it measured itself in those classes
// is replaced, what clients owe it already they go on owing. Any value is taken for
// what it can mean. What waits and runs stays; a room that is now smaller empties
// by itself.
func (m *Machine) Import(now unit.Instant, mem Memory, out *Effects) {
	if m.casts() {
		m.shadow.imported(now, mem, out)
		return
	}
	now = m.advance(now, out)
	for _, was := range mem.Classes {
		if c := m.byName[was.Name]; c != nil && !c.closed {
			c.Pool.Import(was.Measured)
			if c.law != nil && was.Shed != nil {
				c.law.Import(*was.Shed)
			}
			m.admitBlocked(c, out)
		}
	}
	m.importLimit(mem.Limit)
	if m.clients != nil {
		m.clients.Import(now, mem.Clients)
	}
}
