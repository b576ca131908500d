package report

import "github.com/spillway-dev/spillway/policy/reason"

// BandKind is what a band of the river means; it has one colour and one word
// everywhere, in reports, labs and dashboard.
type BandKind uint8

// The kinds, in the order in which a river stacks them from the bottom.
const (
	BandServed  BandKind = iota // answered by the primary rung
	BandRung                    // answered by a cheaper rung
	BandWaiting                 // not answered yet
	BandCaller                  // refused: the caller's own limit, or its input
	BandOurs                    // refused, dropped or displaced for want of capacity
	BandFailed                  // failed, expired, timed out, left
	BandUnknown                 // the outcome of the call is not known
)

// String is the word beside the band.
func (k BandKind) String() string {
	switch k {
	case BandServed:
		return "served in full"
	case BandRung:
		return "cheaper rung"
	case BandWaiting:
		return "waiting"
	case BandCaller:
		return "refused: caller's limit"
	case BandOurs:
		return "refused: ours"
	case BandUnknown:
		return "unknown"
	default:
		return "failed or expired"
	}
}

// BandOf returns the band in which a refusal for a reason is shown. A reason
// outside the closed set is shown as failed, the band that is looked at.
func BandOf(name string) BandKind {
	r, err := reason.Parse(name)
	if err != nil {
		return BandFailed
	}
	switch {
	case r == reason.Unknown:
		return BandUnknown
	case r == reason.Evicted:
		return BandOurs
	}
	switch r.Kind() {
	case reason.KindDone:
		return BandServed
	case reason.KindOurs, reason.KindDrop:
		return BandOurs
	case reason.KindCaller, reason.KindInput:
		return BandCaller
	default:
		return BandFailed
	}
}

// RefusedIn counts the refusals of an account that are shown in a band.
func (g *Group) RefusedIn(kind BandKind) int64 {
	var sum int64
	for name, n := range g.Refused {
		if BandOf(name) == kind {
			sum += n
		}
	}
	return sum
}

// InFull counts the answers of the primary rung.
func (g *Group) InFull() int64 { return g.Answered["primary"] }

// Cheaper counts the answers of all rungs below the primary.
func (g *Group) Cheaper() int64 { return g.Answered.Sum() - g.InFull() }

// maxRungBands is how many cheaper rungs a river tells apart; the fourth band
// holds all further ones.
const maxRungBands = 4

// A Band is one layer of a river.
type Band struct {
	Kind BandKind
	Rung int // 1 to 4 where Kind is BandRung
	Name string
	PerS []float64 // a bucket, requests per second
}

// A River is the picture of a series: what happened to the requests of every
// bucket, stacked from the bottom, all in requests per second.
type River struct {
	BucketS  float64
	T        []float64 // start of the buckets, seconds
	Bands    []Band    // only those with something in them
	Capacity []Number  // null where unknown
	Top      float64   // the highest stack or capacity
}

// River stacks the series. rungs is the ladder's order, best first. The waiting
// band is what the queue and the running work grew by in a bucket, so the stack
// is as high as what was offered, or as what was answered while a queue drained.
func (s *Series) River(rungs []string) River {
	r := River{BucketS: float64(s.BucketS), Capacity: s.CapacityPerS}
	for _, t := range s.TS {
		r.T = append(r.T, float64(t))
	}
	add := func(kind BandKind, rung int, name string, columns ...[]int64) {
		b := Band{Kind: kind, Rung: rung, Name: name, PerS: make([]float64, len(s.TS))}
		var any int64
		for _, column := range columns {
			for i, n := range column {
				b.PerS[i] += float64(n) / r.BucketS
				any += n
			}
		}
		if any != 0 {
			r.Bands = append(r.Bands, b)
		}
	}
	var grouped [][]int64
	level := 0
	for _, name := range order(rungs, s.Answered.Names()) {
		switch column := s.Answered[name]; {
		case name == "primary":
			add(BandServed, 0, BandServed.String(), column)
		case column == nil:
		case level < maxRungBands-1:
			level++
			add(BandRung, level, name, column)
		default:
			grouped = append(grouped, column)
		}
	}
	add(BandRung, maxRungBands, "further rungs", grouped...)
	add(BandWaiting, 0, BandWaiting.String(), s.growth())
	for kind := BandCaller; kind <= BandUnknown; kind++ {
		var columns [][]int64
		for _, name := range s.Refused.Names() {
			if BandOf(name) == kind {
				columns = append(columns, s.Refused[name])
			}
		}
		add(kind, 0, kind.String(), columns...)
	}
	for i := range r.T {
		var sum float64
		for _, b := range r.Bands {
			sum += b.PerS[i]
		}
		r.Top = max(r.Top, sum)
		if c := r.Capacity; i < len(c) && c[i].Known() {
			r.Top = max(r.Top, float64(c[i]))
		}
	}
	return r
}

// growth of what is inside, a bucket; 0 where it shrank.
func (s *Series) growth() []int64 {
	out := make([]int64, len(s.TS))
	var before int64
	for i := range out {
		inside := s.Waiting[i] + s.Running[i]
		out[i] = max(0, inside-before)
		before = inside
	}
	return out
}
