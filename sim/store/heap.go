package store

import "github.com/spillway-dev/spillway/policy/unit"

// kind orders the events of one instant; see the package comment.
type kind uint8

const (
	ends kind = iota
	turned
	stops
	passes
	comesFree
	arrives
	wakes
)

// event is something that will happen. Stale ones, whose life is over, are
// skipped when they come up.
type event struct {
	at   unit.Instant
	rank uint64 // kind, then order of making
	what int32
	life uint32
}

const kindShift = 56

func (e *event) kind() kind { return kind(e.rank >> kindShift) }

func (e *event) before(f *event) bool { return e.at < f.at || e.at == f.at && e.rank < f.rank }

// heap is a binary heap by value: it holds little, for what waits in line is not
// in it.
type heap struct {
	events []event
	made   uint64
}

func (h *heap) push(at unit.Instant, k kind, what int32, life uint32) {
	h.made++
	e := event{at, uint64(k)<<kindShift | h.made, what, life}
	h.events = append(h.events, e)
	i := len(h.events) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(&h.events[parent]) {
			break
		}
		h.events[i] = h.events[parent]
		i = parent
	}
	h.events[i] = e
}

func (h *heap) pop() event {
	top, last := h.events[0], len(h.events)-1
	e := h.events[last]
	h.events = h.events[:last]
	if last == 0 {
		return top
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && h.events[child+1].before(&h.events[child]) {
			child++
		}
		if !h.events[child].before(&e) {
			break
		}
		h.events[i] = h.events[child]
		i = child
	}
	h.events[i] = e
	return top
}
