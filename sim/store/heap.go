package store

import "github.com/spillway-dev/spillway/sim/internal/events"

// kind orders the events of one instant; see the package comment.
type kind = events.Kind

const (
	ends kind = iota
	turned
	stops
	passes
	comesFree
	arrives
	wakes
)

type (
	event = events.Event // those whose life is over are skipped
	heap  = events.Heap
	line  = events.Line
	place = events.Place
)
