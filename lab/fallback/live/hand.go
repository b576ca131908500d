package live

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/sim/store"
)

// hand puts together what the parts told, in the order of answers and of ends as
// store.Run does, and fills in the facts that are found in it.
func (r *Round) hand(all *told, w store.Watch, f *Facts) (store.Sums, error) {
	if all.tester.Wrong > 0 {
		return store.Sums{}, fmt.Errorf("%w: %d answers were wrong, the first: %s", ErrWrong, all.tester.Wrong, all.tester.First)
	}
	requests, lookups, err := r.join(all)
	if err != nil {
		return store.Sums{}, err
	}
	var lags, late []time.Duration
	for i := range all.tester.Sent {
		if s := &all.tester.Sent[i]; s.Prompt {
			lags = append(lags, s.Begun.Sub(s.Scheduled))
		}
	}
	decided := make([]unit.Instant, len(requests))
	for i := range requests {
		decided[i] = requests[i].Decided
	}
	slices.SortFunc(requests, func(a, b store.Request) int { return int(a.Answered - b.Answered) })
	slices.SortFunc(lookups, func(a, b store.Lookup) int { return int(a.Ended - b.Ended) })
	for i := range requests {
		if w.Request != nil {
			w.Request(&requests[i])
		}
	}
	after := int64(0)
	for i := range lookups {
		l := &lookups[i]
		if l.Fate == store.Used && decided[l.N] > l.Limit {
			after++
		}
		if l.Begun >= 0 && l.Fate != store.Stopped {
			late = append(late, l.Ended.Sub(l.Begun)-l.Drawn)
		}
		if w.Lookup != nil {
			w.Lookup(l)
		}
	}
	f.LagP99Ms, f.HeldLateP99Ms, f.Checked = p99(lags), p99(late), len(requests)
	f.AfterLimit = report.Share(after, int64(len(requests)))
	return store.Sums{Requests: int64(len(requests)), Lookups: int64(len(lookups)), MaxWaiting: mostInLine(lookups)}, nil
}

// mostInLine is how many lookups were in the store's line at once; who leaves it at an
// instant makes room for who comes then.
func mostInLine(lookups []store.Lookup) int {
	type change struct {
		at unit.Instant
		by int
	}
	var changes []change
	for i := range lookups {
		l := &lookups[i]
		out := l.Ended
		if l.Begun >= 0 {
			out = l.Begun
		}
		if out > l.Sent {
			changes = append(changes, change{l.Sent, +1}, change{out, -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	now, most := 0, 0
	for _, c := range changes {
		now += c.by
		most = max(most, now)
	}
	return most
}

func p99(all []time.Duration) report.Number {
	if len(all) == 0 {
		return report.None()
	}
	slices.Sort(all)
	return report.Ms(int64(all[(len(all)*99+99)/100-1]))
}

type lookupKey struct {
	n       int64
	attempt uint16
}

// join makes records of the round, or says what is missing.
func (r *Round) join(all *told) ([]store.Request, []store.Lookup, error) {
	draws, err := r.draws()
	if err != nil {
		return nil, nil, err
	}
	requests := make([]store.Request, len(all.tester.Sent))
	if len(all.service) != len(requests) {
		return nil, nil, fmt.Errorf("%w: %d requests sent, the service tells of %d", ErrWrong, len(requests), len(all.service))
	}
	stored := make(map[lookupKey]*held, len(all.store))
	for i := range all.store {
		stored[lookupKey{all.store[i].N, all.store[i].Attempt}] = &all.store[i]
	}
	for i := range all.tester.Sent {
		s := &all.tester.Sent[i]
		requests[i] = store.Request{N: s.N, Scheduled: s.Scheduled, Begun: s.Begun, Answered: s.Answered, Slot: -1, Sent: s.Begun, Deadline: unit.Never}
		if r.Deadline > 0 {
			requests[i].Deadline = s.Scheduled.Add(r.Deadline)
		}
		_, requests[i].FirstFrozen = draws.Wait(s.N, 1)
	}
	lookups := make([]store.Lookup, 0, len(all.store))
	for i := range all.service {
		a := &all.service[i]
		if a.N < 0 || a.N >= int64(len(requests)) {
			return nil, nil, fmt.Errorf("%w: the service tells of request %d, which was not sent", ErrWrong, a.N)
		}
		q := &requests[a.N]
		if rung := all.tester.Sent[a.N].Rung; (a.Reason == reason.Served) != (rung == primary) {
			return nil, nil, fmt.Errorf("%w: request %d ended as %v and was answered by rung %d", ErrWrong, a.N, a.Reason, rung)
		}
		q.Decided, q.Reason, q.Attempts, q.Deciding = a.Decided, a.Reason, a.Attempts, a.Deciding
		for _, t := range a.Tries {
			h := stored[lookupKey{a.N, t.Attempt}]
			if h == nil {
				return nil, nil, fmt.Errorf("%w: attempt %d of request %d never reached the store", ErrWrong, t.Attempt, a.N)
			}
			lookups = append(lookups, record(q, draws, &t, h))
		}
	}
	if len(lookups) != len(all.store) {
		return nil, nil, fmt.Errorf("%w: %d lookups sent, the store tells of %d", ErrWrong, len(lookups), len(all.store))
	}
	return requests, lookups, nil
}

// record makes a lookup's record, and notes in its request what that needs of it. A lookup
// counts as sent when the store had it: what is before is the service's and the network's.
func record(q *store.Request, draws *store.Draws, t *tried, h *held) store.Lookup {
	l := store.Lookup{N: q.N, Attempt: t.Attempt, Hedge: t.Hedge, Sent: h.Came, Begun: h.Begun, Ended: h.Ended, Limit: t.Limit, Cut: t.Cut, Fate: store.Late}
	l.Drawn, l.Frozen = draws.Wait(q.N, t.Attempt)
	q.Frozen = q.Frozen || l.Frozen
	q.CutUnfrozen = q.CutUnfrozen || l.Cut && !l.Frozen
	if t.Attempt == q.Deciding {
		q.Sent = h.Came
		if h.Begun >= 0 && h.Begun <= q.Decided {
			q.Slot = h.Begun
		}
		if q.Reason == reason.Served {
			l.Fate = store.Used
		}
	}
	if h.Stopped {
		l.Fate = store.Stopped
	}
	return l
}
