package spread

// What a copy has of the load that falls to its weight, least first.
const (
	less  = iota // with one more it has at most its part
	about        // its part lies between what it has and one more
	full         // it has its part, or more
)

// sight is what a copy is to one request.
type sight struct{ grade, part, load int }

// sum is the load and the weights of all candidates.
type sum struct{ load, weight int }

// parted says what the copy has of its part of the load, this request included.
//
// To compare load by weight would do where much is in flight. Where little is, a
// light copy has nothing most of the time, which is always the least: one of weight
// 1 beside one of 99 would get a tenth of the requests when ten are in flight, and
// three tenths when one is.
func (all sum) parted(k *one) int {
	part, has := int64(all.load+1)*int64(k.weight), int64(k.seen.load)*int64(all.weight)
	switch {
	case has+int64(all.weight) <= part:
		return less
	case has < part:
		return about
	}
	return full
}

// turnsMost is how many turns a copy can save, or owe: enough for chance to even out,
// and all that a copy that was full or away is owed for what others did meanwhile.
const turnsMost = 16

// earn says what the copy has of its part, and counts its weight towards its next turn,
// of which all weights together are the price.
func (k *one) earn(all sum) {
	k.seen.part = all.parted(k)
	most := turnsMost * all.weight
	k.turns = min(max(k.turns+k.weight, -most), most)
}

// before reports whether a request goes to k rather than to other. Of those of which
// neither is before the other, it goes to the next in the round.
func (k *one) before(other *one) bool {
	a, b := &k.seen, &other.seen
	switch {
	case a.grade != b.grade:
		return a.grade < b.grade
	case a.part != b.part:
		return a.part < b.part
	case a.part == about: // they differ by less than one request
	case a.load*other.weight != b.load*k.weight:
		return a.load*other.weight < b.load*k.weight
	}
	return k.turns > other.turns
}
