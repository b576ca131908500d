package sim

import "github.com/spillway-dev/spillway/policy/unit"

// kind is what an event is, in the order in which events of one instant are
// played; see the package comment.
type kind uint8

const (
	workEnds kind = iota
	callTimesOut
	callerLeaves
	callerActs
	arrives
	triesAgain
	changes
	wakesUp // never on the heap: each machine knows its own next instant
	samples
)

// event is something that will happen. Those that concern an attempt which has
// ended by then are stale and skipped: cheaper than finding them to take out.
type event struct {
	at   unit.Instant
	rank uint64 // kind, then order of making: breaks every tie
	what int32  // the attempt, stream or change it concerns
	life uint32 // of the attempt
}

const kindShift = 56 // leaves 2^56 events to be told apart

func (e *event) kind() kind { return kind(e.rank >> kindShift) }

func (e *event) before(f *event) bool {
	return e.at < f.at || e.at == f.at && e.rank < f.rank
}

// heap is a four-ary heap of events by value: half as deep as a binary one,
// and the four children compared at each level lie in two cache lines.
type heap struct {
	events []event
	made   uint64
}

// push puts an event on, after all that were made before.
func (h *heap) push(at unit.Instant, k kind, what int32, life uint32) {
	h.made++
	h.insert(event{at, uint64(k)<<kindShift | h.made, what, life})
}

func (h *heap) insert(e event) {
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

// pop takes the earliest event off. The heap must not be empty.
func (h *heap) pop() event {
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
