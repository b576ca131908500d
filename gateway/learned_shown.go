package gateway

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/spillway-dev/spillway/observe"
	"github.com/spillway-dev/spillway/policy/gap"
	"github.com/spillway-dev/spillway/policy/shed"
)

// gapState is what is learned of a class's gap, as /debug/pools shows it: {} where
// nothing is.
type gapState struct{ *gapFigures }

type gapFigures struct {
	// Buckets are those of which there are samples, the most sampled first.
	Buckets []bucketState `json:"buckets"`
	// Compared counts pairs of answers, NoPlace those of buckets that had none.
	Compared int64 `json:"compared"`
	NoPlace  int64 `json:"no_place"`
	// Unspared found no capacity to spare, Unanswered no cheaper answer, Unlike was
	// of a kind that cannot be compared.
	Unspared   int64 `json:"unspared"`
	Unanswered int64 `json:"unanswered"`
	Unlike     int64 `json:"unlike"`
}

// bucketState is a bucket. All but its name and samples are shares from 0 to 1.
type bucketState struct {
	Bucket  string  `json:"bucket"`
	Samples float64 `json:"samples"` // old ones counted in part
	Mean    float64 `json:"mean"`
	Lower   float64 `json:"lower"`
	Upper   float64 `json:"upper"`
	Gap     float64 `json:"gap"` // that is used, if known
	Known   bool    `json:"known"`
}

// gapOf returns what /debug/pools shows of the class of that name.
func (g *Gateway) gapOf(resource, class string) gapState {
	for _, c := range g.current.Load().classes {
		if c.name == class && c.upstream.name == resource && c.learning != nil {
			return c.learning.state()
		}
	}
	return gapState{}
}

func (l *learning) state() gapState {
	f := &gapFigures{
		Buckets: []bucketState{}, Compared: l.compared.Load(),
		Unspared: l.unspared.Load(), Unanswered: l.unanswered.Load(), Unlike: l.unlike.Load(),
	}
	all, outside := l.estimates()
	f.NoPlace = outside
	for _, e := range all {
		b := bucketState{Bucket: observe.Printable(e.Bucket, keyMax), Samples: e.Samples, Mean: e.Mean, Lower: e.Lower, Upper: e.Upper, Known: e.Known}
		if e.Known {
			b.Gap = float64(e.Gap) / float64(shed.Useless)
		}
		f.Buckets = append(f.Buckets, b)
	}
	return gapState{f}
}

// estimates returns what is known, the most sampled first.
func (l *learned) estimates() (all []gap.Estimate, outside int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all, outside = l.core.Estimates(l.now())
	slices.SortStableFunc(all, func(a, b gap.Estimate) int { return cmp.Compare(b.Samples, a.Samples) })
	return all, outside
}

// bucketsWritten bounds what the text page shows; the JSON one has all.
const bucketsWritten = 20

// write renders it as text.
func (s gapState) write(w io.Writer) {
	if s.gapFigures == nil {
		return
	}
	fmt.Fprintf(w, "  gap       %d compared (%d of buckets without a place), not: %d without capacity to spare, %d without a cheaper answer, %d not comparable\n",
		s.Compared, s.NoPlace, s.Unspared, s.Unanswered, s.Unlike)
	if len(s.Buckets) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  bucket\tsamples\tmean\tbetween\tgap")
	for _, b := range s.Buckets[:min(len(s.Buckets), bucketsWritten)] {
		used := "not known yet"
		if b.Known {
			used = thousandths(b.Gap)
		}
		fmt.Fprintf(t, "  %s\t%.0f\t%s\t%s and %s\t%s\n", cmp.Or(b.Bucket, "-"), b.Samples, thousandths(b.Mean), thousandths(b.Lower), thousandths(b.Upper), used)
	}
	t.Flush()
	if rest := len(s.Buckets) - bucketsWritten; rest > 0 {
		fmt.Fprintf(w, "  and %d more\n", rest)
	}
}

func thousandths(share float64) string { return strconv.FormatFloat(share, 'f', 3, 64) }

// gapMetrics is what a scrape sees of all classes in force that learn.
func (g *Gateway) gapMetrics() (all []observe.Gap) {
	for _, c := range g.current.Load().classes {
		if l := c.learning; l != nil {
			o := observe.Gap{
				Resource: c.upstream.name, Class: c.name, Compared: l.compared.Load(),
				Unspared: l.unspared.Load(), Unanswered: l.unanswered.Load(), Unlike: l.unlike.Load(),
			}
			o.Estimates, o.NoPlace = l.estimates()
			all = append(all, o)
		}
	}
	return all
}
