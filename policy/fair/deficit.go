package fair

import "github.com/spillway-dev/spillway/policy/unit"

// Deficit is a deficit round robin by cost that skips the rounds in which
// nobody could be served.
//
//	round     counts the rounds; the one under way is that of the latest pick
//	credit    what a flow may spend in its next turn, 1 .. weight
//	turn      the round of a flow's next turn
//
//	Next      the flow of the earliest turn; ties in the order of their making
//	Serve     credit -= cost; while credit <= 0: turn++, credit += weight
//	Join      turn = max(turn, round + 1)
//
// The loop in Serve is a division. Join, Leave, Serve, Correct take O(log n)
// for n waiting flows, Next O(1).
type Deficit struct {
	heap   heap // by turn
	weight int64
	round  int64
	epoch  uint64 // counts the times at which nobody waited
}

// roundMax is where the count of rounds starts again. A single charge moves a
// flow by CostMax = 2^40 rounds at most, so that even a million corrections at
// once stay inside an int64.
const roundMax = 1 << 61

// Join enters f, in the next round at the earliest. What it owes stands;
// credit it has none.
func (d *Deficit) Join(f *Flow) {
	if d.heap.has(f) {
		return
	}
	if f.epoch != d.epoch || f.key <= d.round {
		f.epoch, f.key, f.credit = d.epoch, d.round+1, unit.Cost(f.Weight)
	}
	d.weight += f.Weight
	d.heap.push(f, f.key)
}

// Leave takes f out. Its debt, which is a turn in a later round, stays with
// it.
func (d *Deficit) Leave(f *Flow) {
	if !d.heap.has(f) {
		return
	}
	d.weight -= f.Weight
	d.heap.remove(f)
	if d.heap.least() == nil {
		d.round = 0
		d.epoch++
	}
}

// Next returns the flow of the earliest turn.
func (d *Deficit) Next() *Flow {
	f := d.heap.least()
	if f == nil {
		return nil
	}
	d.round = max(d.round, f.key)
	if d.round > roundMax {
		d.restart()
	}
	return f
}

// Serve charges f for one request of cost c.
func (d *Deficit) Serve(f *Flow, c unit.Cost) { d.charge(f, c.Clamp()) }

// Correct charges f by the difference between true and charged cost, or gives
// back, as far as its next turn is not to be earlier than the round under way.
func (d *Deficit) Correct(f *Flow, difference unit.Cost) {
	if d.heap.least() == nil {
		return // nobody waits, nobody owes
	}
	if f.epoch != d.epoch {
		f.epoch, f.key, f.credit = d.epoch, d.round, unit.Cost(f.Weight)
	}
	d.charge(f, min(max(difference, -unit.CostMax), unit.CostMax))
}

// Return is Correct by what was charged.
func (d *Deficit) Return(f *Flow, c unit.Cost) { d.Correct(f, -c.Clamp()) }

// Weight returns the sum of the waiting flows' weights, at least 1.
func (d *Deficit) Weight() int64 { return max(d.weight, 1) }

// Set changes f's weight. What f owes is a cost, and is paid off at the new weight; what
// is left of a turn under way is at most a whole one of the new weight. Ranks do not
// count here.
func (d *Deficit) Set(f *Flow, weight int64, rank int) {
	old := f.Weight
	f.set(weight, rank)
	if f.Weight != old {
		d.restate(f, unit.Cost(old))
	}
	if d.heap.has(f) {
		d.weight += f.Weight - old
	}
}

// charge takes cost from f's credit, or adds to it if negative, and moves its
// next turn by as many rounds as it takes for the credit to be 1 .. weight.
func (d *Deficit) charge(f *Flow, cost unit.Cost) {
	weight := unit.Cost(f.Weight)
	f.credit -= cost
	rounds := unit.Cost(0)
	switch {
	case f.credit <= 0:
		rounds = -f.credit/weight + 1
	case f.credit > weight && cost < 0:
		rounds = -((f.credit - 1) / weight)
	}
	if rounds == 0 {
		return
	}
	f.credit += rounds * weight
	turn := f.key + int64(rounds)
	if cost < 0 && turn < d.round {
		turn = d.round
	}
	if d.heap.has(f) {
		d.heap.move(f, turn)
	} else {
		f.key = turn
	}
}

// restate expresses in turns of f's weight what was in turns of an older one. As of the
// round under way f has credit - turns x weight to spend.
func (d *Deficit) restate(f *Flow, old unit.Cost) {
	weight, turns := unit.Cost(f.Weight), unit.Cost(f.key-d.round)
	if f.epoch != d.epoch || turns <= 0 {
		f.credit = min(f.credit, weight)
		return
	}
	owed := turns*old - f.credit // not negative: credit is at most a turn
	turns = owed/weight + 1
	f.credit = turns*weight - owed
	if turn := d.round + int64(turns); d.heap.has(f) {
		d.heap.move(f, turn)
	} else {
		f.key = turn
	}
}

// restart counts rounds from zero again. Debts of those who do not wait are
// void.
func (d *Deficit) restart() {
	d.epoch++
	for _, f := range d.heap.flows {
		f.key -= d.round
		f.epoch = d.epoch
	}
	d.round = 0
}
