package workload

import "errors"

// Merge returns the arrivals of all sources in order of time, numbered anew.
// Equal instants come in the order of the sources. A choice costs O(log n) in
// the number of sources.
func Merge(sources ...Source) Source {
	m := &merged{sources: sources}
	for i, s := range sources {
		e := pending{order: i}
		if s.Next(&e.arrival) {
			m.heap = append(m.heap, e)
			m.up(len(m.heap) - 1)
		}
	}
	return m
}

type merged struct {
	sources []Source
	heap    []pending // the next arrival of each source that has one, the earliest first
	n       int64
}

type pending struct {
	arrival Arrival
	order   int
}

func (m *merged) Next(a *Arrival) bool {
	if len(m.heap) == 0 {
		return false
	}
	top := &m.heap[0]
	*a = top.arrival
	a.N = m.n
	m.n++
	if !m.sources[top.order].Next(&top.arrival) {
		last := len(m.heap) - 1
		m.heap[0] = m.heap[last]
		m.heap = m.heap[:last]
	}
	m.down()
	return true
}

// Err returns why any of the sources ended early.
func (m *merged) Err() error {
	var all []error
	for _, s := range m.sources {
		all = append(all, Err(s))
	}
	return errors.Join(all...)
}

func (m *merged) before(i, j int) bool {
	a, b := &m.heap[i], &m.heap[j]
	return a.arrival.At < b.arrival.At || a.arrival.At == b.arrival.At && a.order < b.order
}

func (m *merged) up(i int) {
	for parent := (i - 1) / 2; i > 0 && m.before(i, parent); parent = (i - 1) / 2 {
		m.heap[i], m.heap[parent] = m.heap[parent], m.heap[i]
		i = parent
	}
}

func (m *merged) down() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(m.heap) {
			return
		}
		if child+1 < len(m.heap) && m.before(child+1, child) {
			child++
		}
		if !m.before(child, i) {
			return
		}
		m.heap[i], m.heap[child] = m.heap[child], m.heap[i]
		i = child
	}
}
