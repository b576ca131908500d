package quality

import (
	"math"
	"sync/atomic"

	"github.com/spillway-dev/spillway/policy/shed"
)

// Tally adds up what is said of some answers. The zero Tally is empty.
type Tally struct {
	answers, judged atomic.Int64
	sum, squares    atomic.Int64 // in millionths
}

func (t *Tally) add(score float64) {
	score = min(max(score, 0), 1)
	t.sum.Add(int64(score * 1e6))
	t.squares.Add(int64(score * score * 1e6))
	t.judged.Add(1)
}

// Figure is what is known of the answers of a rung to requests of a bucket.
type Figure struct {
	Rung    string
	Bucket  int      // of the gap
	Gap     shed.Gap // the least of that bucket
	Shed    bool     // those that were shed for load
	Answers int64    // that were given
	Judged  int64    // of which something was said
	// Mean of what was said, 0 to 1, and how far that of all of them may be from it:
	// 1.96 standard errors; 0 with fewer than two.
	Mean, Error float64
}

func (t *Tally) figure() Figure {
	f := Figure{Answers: t.answers.Load(), Judged: t.judged.Load()}
	if f.Judged == 0 {
		return f
	}
	n := float64(f.Judged)
	f.Mean = float64(t.sum.Load()) / 1e6 / n
	if f.Judged > 1 {
		variance := max(float64(t.squares.Load())/1e6/n-f.Mean*f.Mean, 0)
		f.Error = 1.96 * math.Sqrt(variance/(n-1))
	}
	return f
}
