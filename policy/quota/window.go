package quota

import (
	"time"

	"github.com/spillway-dev/spillway/policy/unit"
)

// Window is a stretch of the calendar at whose beginning a limit is whole again.
// The zero Window is none: a bucket that refills all the time.
type Window struct {
	Period Period
	// Zone is where its midnight is; nil is UTC. A day in it may have 23 or 25
	// hours.
	Zone *time.Location
}

// Period is how long a window is.
type Period uint8

// The periods.
const (
	Rolling Period = iota // no window
	Day
	Month
)

// bounds returns the beginning of the window that holds the instant, and of the
// next one.
func (w Window) bounds(at unit.Instant) (from, to unit.Instant) {
	zone := w.Zone
	if zone == nil {
		zone = time.UTC
	}
	y, m, d := time.Unix(0, int64(at)).In(zone).Date()
	if w.Period == Month {
		return midnight(y, m, 1, zone), midnight(y, m+1, 1, zone)
	}
	return midnight(y, m, d, zone), midnight(y, m, d+1, zone)
}

// midnight is when the day begins: at its first instant, which is not 00:00 where
// clocks are put forward then.
func midnight(y int, m time.Month, d int, zone *time.Location) unit.Instant {
	t := time.Date(y, m, d, 0, 0, 0, 0, zone)
	if t.Day() != time.Date(y, m, d, 12, 0, 0, 0, zone).Day() { // Date has chosen the side before the gap
		_, end := t.ZoneBounds()
		t = end
	}
	return unit.Instant(t.UnixNano())
}
