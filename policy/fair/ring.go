package fair

import "github.com/spillway-dev/spillway/policy/unit"

// Ring is a round robin over flows, weighted or not, in which a request is a
// request. All its methods take constant time. Its memory is the flows
// themselves.
type Ring struct {
	equal  bool  // ignore weights (rr)
	turn   *Flow // whose turn it is; nil when the ring is empty
	flows  int64
	weight int64
}

// Join enters f at the end of the ring: it waits a full round.
func (r *Ring) Join(f *Flow) {
	if f.next != nil {
		return
	}
	r.flows++
	r.weight += f.Weight
	if r.turn == nil {
		f.next, f.prev = f, f
		r.begin(f)
		return
	}
	last := r.turn.prev
	f.prev, f.next = last, r.turn
	last.next, r.turn.prev = f, f
}

// Leave takes f out. What is left of its turn is forfeited.
func (r *Ring) Leave(f *Flow) {
	if f.next == nil {
		return
	}
	r.flows--
	r.weight -= f.Weight
	f.prev.next, f.next.prev = f.next, f.prev
	switch {
	case r.flows == 0:
		r.turn = nil
	case r.turn == f:
		r.begin(f.next)
	}
	f.next, f.prev = nil, nil
}

// Next returns the flow whose turn it is.
func (r *Ring) Next() *Flow {
	if r.turn != nil && r.turn.credit <= 0 {
		r.begin(r.turn.next)
	}
	return r.turn
}

// Serve charges f for one request, whatever it costs.
func (r *Ring) Serve(f *Flow, _ unit.Cost) { f.credit-- }

// Correct changes nothing: a request is a request.
func (r *Ring) Correct(*Flow, unit.Cost) {}

// Return gives f its turn back, if it is not over.
func (r *Ring) Return(f *Flow, _ unit.Cost) {
	if most := unit.Cost(f.Weight); r.turn == f && f.credit < most && (!r.equal || f.credit < 1) {
		f.credit++
	}
}

// Weight returns the sum of the waiting flows' weights, at least 1.
func (r *Ring) Weight() int64 {
	if r.equal {
		return max(r.flows, 1)
	}
	return max(r.weight, 1)
}

// Set changes f's weight, from its next turn on. Ranks do not count here.
func (r *Ring) Set(f *Flow, weight int64, rank int) {
	old := f.Weight
	f.set(weight, rank)
	if f.next != nil {
		r.weight += f.Weight - old
	}
}

// begin makes it f's turn.
func (r *Ring) begin(f *Flow) {
	r.turn = f
	f.credit = 1
	if !r.equal {
		f.credit = unit.Cost(f.Weight)
	}
}
