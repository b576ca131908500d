package gap

import (
	"strings"

	"github.com/spillway-dev/spillway/policy/unit"
)

// place returns the bucket of that name, or nil if there is no room for it.
//
// Who sends texts that were never seen must not be able to push out those that are
// seen all the time. So a place is earned (J. Misra and D. Gries, Finding repeated
// elements, 1982): each sample of a bucket is a credit, one of a bucket without a
// place takes a credit from all, and who has none left makes room. A bucket that has
// more than one in Buckets+1 of the samples keeps its place against anything.
func (l *Learner) place(now unit.Instant, name string) *bucket {
	if i, ok := l.at[name]; ok {
		l.buckets[i].credit = min(l.buckets[i].credit+1, creditMost)
		return &l.buckets[i]
	}
	if len(l.buckets) >= l.rule.Buckets {
		poorest := l.poorest()
		if l.buckets[poorest].credit > 0 {
			for i := range l.buckets {
				l.buckets[i].credit--
			}
			return nil
		}
		l.remove(poorest)
	}
	name = strings.Clone(name) // the caller's may be a part of something large
	l.at[name] = len(l.buckets)
	l.buckets = append(l.buckets, bucket{name: name, now: now, credit: 1})
	return &l.buckets[len(l.buckets)-1]
}

// creditMost bounds the credit, so that a bucket which is no longer seen gives way in
// time.
const creditMost = 1 << 10

// poorest is the bucket with the least credit, the older one of two.
func (l *Learner) poorest() (poorest int) {
	for i := range l.buckets {
		if l.buckets[i].credit < l.buckets[poorest].credit {
			poorest = i
		}
	}
	return poorest
}

func (l *Learner) remove(i int) {
	delete(l.at, l.buckets[i].name)
	l.buckets = append(l.buckets[:i], l.buckets[i+1:]...)
	for ; i < len(l.buckets); i++ {
		l.at[l.buckets[i].name] = i
	}
}
