package propose

import (
	"container/heap"
	"slices"
	"time"

	"github.com/spillway-dev/spillway/workload"
)

// window is the moment whose busiest one counts: long enough to hold more than
// chance, short enough to be a peak.
const window = 10 * time.Second

// measured is what a class's requests show.
type measured struct {
	n       int64
	busiest int64         // requests in its busiest window
	busy    time.Duration // service time in the window that has most of it
	mostAt  int           // at once, at the most

	times   []time.Duration // a bounded sample of service times: every 2^halved-th
	halved  uint
	timed   int64
	total   time.Duration
	clients map[workload.Name]int64

	at      int64 // number of the window being counted
	inIt    int64
	workIn  time.Duration
	running ends
}

// samples bounds the sample of service times; every k-th is kept, k doubling.
const samples = 1 << 16

func (m *measured) take(a *workload.Arrival) {
	m.n++
	if w := int64(a.At / window); w != m.at {
		m.at, m.inIt, m.workIn = w, 0, 0
	}
	m.inIt++
	m.workIn += a.Service
	m.busiest = max(m.busiest, m.inIt)
	m.busy = max(m.busy, m.workIn)
	if a.Tenant != 0 {
		if m.clients == nil {
			m.clients = make(map[workload.Name]int64)
		}
		m.clients[a.Tenant]++ // as many as the table of names holds
	}
	if a.Service <= 0 {
		return
	}
	m.sample(a.Service)
	m.timed++
	m.total += a.Service
	for len(m.running) > 0 && m.running[0] <= a.At {
		heap.Pop(&m.running)
	}
	heap.Push(&m.running, a.At+a.Service)
	m.mostAt = max(m.mostAt, len(m.running))
}

// sample keeps every k-th service time.
func (m *measured) sample(t time.Duration) {
	if m.timed&(1<<m.halved-1) != 0 {
		return
	}
	if len(m.times) == samples { // of every k-th, those that every 2k-th are
		for i := range samples / 2 {
			m.times[i] = m.times[2*i]
		}
		m.times = m.times[:samples/2]
		m.halved++ // this one is a 2k-th too: a multiple of k that is even
	}
	m.times = append(m.times, t)
}

// perSecond is the rate of the busiest window.
func (m *measured) perSecond() float64 { return float64(m.busiest) / window.Seconds() }

// inUse is how many slots were in use on average in the window with most work:
// Little's law.
func (m *measured) inUse() float64 { return float64(m.busy) / float64(window) }

func (m *measured) mean() time.Duration {
	if m.timed == 0 {
		return 0
	}
	return m.total / time.Duration(m.timed)
}

// quantile sorts the sample.
func (m *measured) quantile(q float64) time.Duration {
	if len(m.times) == 0 {
		return 0
	}
	slices.Sort(m.times)
	return m.times[min(int(q*float64(len(m.times))), len(m.times)-1)]
}

// meanBetween is the mean of the sorted sample between two quantiles.
func (m *measured) meanBetween(from, to float64) time.Duration {
	slices.Sort(m.times)
	a, b := int(from*float64(len(m.times))), int(to*float64(len(m.times)))
	if b <= a {
		return 0
	}
	var sum time.Duration
	for _, t := range m.times[a:b] {
		sum += t
	}
	return sum / time.Duration(b-a)
}

// loudest returns how many clients there were and the part of the busiest.
func (m *measured) loudest() (clients int, share float64) {
	var most int64
	for _, n := range m.clients { // order does not matter: it is a maximum
		most = max(most, n)
	}
	return len(m.clients), float64(most) / float64(max(m.n, 1))
}

// ends is a heap of instants, the earliest on top.
type ends []time.Duration

func (e ends) Len() int           { return len(e) }
func (e ends) Less(i, j int) bool { return e[i] < e[j] }
func (e ends) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }

// Push implements heap.Interface.
func (e *ends) Push(x any) { *e = append(*e, x.(time.Duration)) }

// Pop implements heap.Interface.
func (e *ends) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}
