package events

import "github.com/spillway-dev/spillway/policy/unit"

// Kind orders the events of one instant.
type Kind = uint8

// Event is something that will happen to whatever What numbers. One whose Life is over
// by then is stale and for its owner to skip: cheaper than finding it to take it out.
type Event struct {
	At   unit.Instant
	rank uint64 // kind, then order of making: breaks every tie
	What int32
	Life uint32
}

const kindShift = 56 // leaves 2^56 events to be told apart

// Kind returns what the event is.
func (e *Event) Kind() Kind { return Kind(e.rank >> kindShift) }

func (e *Event) before(f *Event) bool {
	return e.At < f.At || e.At == f.At && e.rank < f.rank
}

// Heap is a four-ary heap of events by value: half as deep as a binary one, and the four
// children compared at each level lie in two cache lines. Events leave it by instant,
// then by kind, then in the order of their making. The zero Heap is empty.
type Heap struct {
	events []Event
	made   uint64
}

// Len returns how many events are on the heap.
func (h *Heap) Len() int { return len(h.events) }

// First returns the next event, of a heap that is not empty.
func (h *Heap) First() *Event { return &h.events[0] }

// Push puts an event on, after all of its instant and kind that were made before.
func (h *Heap) Push(at unit.Instant, k Kind, what int32, life uint32) {
	h.made++
	h.insert(Event{at, uint64(k)<<kindShift | h.made, what, life})
}

// Put puts an event on whose place among those of its instant and kind is order.
func (h *Heap) Put(at unit.Instant, k Kind, order uint64, what int32) {
	h.insert(Event{at, uint64(k)<<kindShift | order, what, 0})
}

func (h *Heap) insert(e Event) {
	h.events = append(h.events, e)
	i := len(h.events) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&h.events[parent]) {
			break
		}
		h.events[i] = h.events[parent]
		i = parent
	}
	h.events[i] = e
}

// Pop takes the earliest event off. The heap must not be empty.
func (h *Heap) Pop() Event {
	top, last := h.events[0], len(h.events)-1
	e := h.events[last]
	h.events = h.events[:last]
	if last == 0 {
		return top
	}
	events, i := h.events, 0
	for {
		first := 4*i + 1
		if first >= last {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, last); c++ {
			if events[c].before(&events[least]) {
				least = c
			}
		}
		if !events[least].before(&e) {
			break
		}
		events[i] = events[least]
		i = least
	}
	events[i] = e
	return top
}
