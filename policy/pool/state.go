package pool

import "github.com/spillway-dev/spillway/policy/estimate"

// Measured is what a pool has measured of its service, as a value: how long slots
// are held and how long serving takes, from which its bound and its feasibility
// follow, and by how much waits exceeded their prediction. Whom it served is not
// part of it.
type Measured struct {
	Holding estimate.MeanState      `json:"holding"`
	Service estimate.QuantilesState `json:"service"`
	Recent  estimate.RecentState    `json:"recent"`
	Late    estimate.QuantilesState `json:"late"`
}

// Export returns what was measured. It looks at a few thousand counters.
func (p *Pool) Export() Measured {
	return Measured{p.holding.Export(), p.service.all.Export(), p.service.recent.Export(), p.late.Export()}
}

// Import replaces what was measured, whatever it is given, and sizes the room by it.
func (p *Pool) Import(m Measured) {
	p.holding.Import(m.Holding)
	p.service.all.Import(m.Service)
	p.service.recent.Import(m.Recent)
	p.late.Import(m.Late)
	p.lateBy = p.lateness()
	p.derive()
}
