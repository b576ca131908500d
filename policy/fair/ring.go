package fair

import "github.com/spillway-dev/spillway/policy/unit"

// Ring is a round robin over flows, weighted or not, by requests or by cost;
// see the package comment. Join, Leave, Serve and Correct take constant time,
// and so does Next on average: a turn that is used up is ended once for the
// cost that used it up. Its memory is the flows themselves.
type Ring struct {
	equal    bool // ignore weights (rr)
	unitCost bool // a request is a request (rr, wrr)

	turn    *Flow // whose turn it is; nil when the ring is empty
	flows   int
	weight  int64
	quantum unit.Cost // the largest cost seen in this epoch
	epoch   uint64    // counts the times at which nobody waited
}

// Join enters f at the end of the ring: it waits a full round. What it owes
// from this epoch stands; credit it has none.
func (r *Ring) Join(f *Flow) {
	if f.next != nil {
		return
	}
	if f.epoch != r.epoch {
		f.deficit, f.epoch = 0, r.epoch
	}
	r.weight += f.Weight
	r.flows++
	if r.turn == nil {
		f.next, f.prev = f, f
		r.turn = f
		r.refill(f)
		return
	}
	last := r.turn.prev
	f.prev, f.next = last, r.turn
	last.next, r.turn.prev = f, f
}

// Leave takes f out. The credit of an unfinished turn is forfeited.
func (r *Ring) Leave(f *Flow) {
	if f.next == nil {
		return
	}
	r.weight -= f.Weight
	r.flows--
	f.deficit = min(f.deficit, 0)
	if r.flows == 0 {
		r.turn = nil
		r.quantum = 0
		r.epoch++
	} else {
		f.prev.next, f.next.prev = f.next, f.prev
		if r.turn == f {
			r.turn = f.next
			r.refill(r.turn)
		}
	}
	f.next, f.prev = nil, nil
}

// Next returns the flow whose turn it is, ending the turns of those who have
// nothing left to spend.
func (r *Ring) Next() *Flow {
	for r.turn != nil && r.turn.deficit <= 0 {
		r.turn = r.turn.next
		r.refill(r.turn)
	}
	return r.turn
}

// Serve charges f for one request of cost c.
func (r *Ring) Serve(f *Flow, c unit.Cost) {
	f.deficit -= r.price(c)
}

// Correct charges f by the difference d between true and charged cost.
func (r *Ring) Correct(f *Flow, d unit.Cost) {
	if r.unitCost || r.turn == nil {
		return // requests are counted, or nobody waits and nobody owes
	}
	if f.epoch != r.epoch {
		f.deficit, f.epoch = 0, r.epoch
	}
	r.quantum = max(r.quantum, d)
	f.deficit -= d
	if f.next == nil {
		f.deficit = min(f.deficit, 0)
	}
}

// Weight returns the sum of the waiting flows' weights, at least 1.
func (r *Ring) Weight() int64 {
	if r.equal {
		return max(int64(r.flows), 1)
	}
	return max(r.weight, 1)
}

// Reweigh sets f's weight, at least 1, from its next turn on.
func (r *Ring) Reweigh(f *Flow, weight int64) {
	weight = max(weight, 1)
	if f.next != nil {
		r.weight += weight - f.Weight
	}
	f.Weight = weight
}

// price returns what a request of cost c is charged, and lets the quantum
// follow the largest of them, so that one turn pays for one request.
func (r *Ring) price(c unit.Cost) unit.Cost {
	if r.unitCost {
		return 1
	}
	c = c.Clamp()
	r.quantum = max(r.quantum, c)
	return c
}

func (r *Ring) refill(f *Flow) {
	w := f.Weight
	if r.equal {
		w = 1
	}
	f.deficit += max(r.quantum, 1) * unit.Cost(w)
}
