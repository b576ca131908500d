package limit

// bounds keep a limit that adapts. It is a fraction, so that small steps add up.
type bounds struct {
	Config
	level float64
	floor bool // it would be lower
}

func newBounds(c Config) bounds { return bounds{Config: c, level: float64(c.Start)} }

// Limit returns how many may run.
func (b *bounds) Limit() int { return int(b.level) }

// set moves the limit, as far as it may.
func (b *bounds) set(to float64) {
	b.floor = to < float64(b.Floor)
	b.level = min(max(to, float64(b.Floor)), float64(b.Ceiling))
}

// Export returns the limit.
func (b *bounds) Export() Measured { return Measured{Limit: b.level} }

// Import takes a limit over.
func (b *bounds) Import(m Measured) {
	if m.Limit >= 1 { // not so for what is no number
		b.set(m.Limit)
	}
}
