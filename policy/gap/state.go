package gap

import "github.com/spillway-dev/spillway/policy/unit"

// State is what is known of one bucket, to be handed to another process.
type State struct {
	Bucket  string  `json:"bucket"`
	Weight  float64 `json:"weight"`
	Squares float64 `json:"squares"`
	Sum     float64 `json:"sum"`
	Credit  int64   `json:"credit"`
}

// Export returns what is known at now.
func (l *Learner) Export(now unit.Instant) []State {
	var all []State
	for i := range l.buckets {
		b := &l.buckets[i]
		b.age(now, l.rule.HalfLife)
		all = append(all, State{b.name, b.weight, b.squares, b.sum, b.credit})
	}
	return all
}

// nameMost is how long the name of a bucket that is taken in may be.
const nameMost = 1 << 10

// weightMost is more than a bucket can weigh that has a sample a microsecond.
const weightMost = 1e18

// Import takes in what another process knew, as if it had been learned by now.
// Buckets that are known already, or that make no sense, are left out, and those for
// which there is no room.
func (l *Learner) Import(now unit.Instant, all []State) {
	for _, s := range all {
		ok := s.Weight >= 0 && s.Weight < weightMost && s.Squares >= 0 && s.Squares <= s.Weight &&
			s.Sum >= 0 && s.Sum <= s.Weight && s.Credit >= 0 && len(s.Bucket) <= nameMost
		if _, twice := l.at[s.Bucket]; !ok || twice || len(l.buckets) >= l.rule.Buckets {
			continue
		}
		l.at[s.Bucket] = len(l.buckets)
		l.buckets = append(l.buckets, bucket{
			name: s.Bucket, weight: s.Weight, squares: s.Squares, sum: s.Sum, credit: min(s.Credit, creditMost), now: now,
		})
		l.buckets[len(l.buckets)-1].show(l.rule.Enough)
	}
}
