package main

import (
	"container/heap"
	"math"
	"math/rand/v2"
)

// idiom is the simulator one writes in an afternoon: container/heap of events
// with closures, floating-point time, math/rand, two priorities, a deadline
// looked at when a request is picked. It has no tenants, no feasibility, no
// bound, no metrics and no quantiles: it counts. It is the yardstick, not a
// rival.
type idiom struct {
	now      float64
	events   events
	queues   [2][]request
	busy     int
	servers  int
	deadline float64

	offered, served, expired int
}

type request struct{ arrived float64 }

type event struct {
	at  float64
	run func()
}

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}

func (s *idiom) after(d float64, run func()) { heap.Push(&s.events, event{s.now + d, run}) }

// runIdiom plays n requests of 100 ms mean, log-normal, at so much load a
// server, and returns how many were served.
func runIdiom(n int, load float64) int {
	const servers, mean, sigma = 64, 0.1, 0.4
	s := &idiom{servers: servers, deadline: 0.3}
	random := rand.New(rand.NewPCG(1, 2))
	service := func() float64 { return mean * math.Exp(sigma*random.NormFloat64()-sigma*sigma/2) }
	rate := load * servers / mean

	var start func(r request)
	start = func(request) {
		s.busy++
		s.after(service(), func() {
			s.busy--
			s.served++
			for p := range s.queues {
				for len(s.queues[p]) > 0 {
					r := s.queues[p][0]
					s.queues[p] = s.queues[p][1:]
					if s.now-r.arrived > s.deadline {
						s.expired++
						continue
					}
					start(r)
					return
				}
			}
		})
	}
	var arrive func()
	arrive = func() {
		s.offered++
		r := request{s.now}
		if s.busy < s.servers {
			start(r)
		} else {
			p := s.offered & 1
			s.queues[p] = append(s.queues[p], r)
		}
		if s.offered < n {
			s.after(random.ExpFloat64()/rate, arrive)
		}
	}
	s.after(0, arrive)
	for s.events.Len() > 0 {
		e := heap.Pop(&s.events).(event)
		s.now = e.at
		e.run()
	}
	return s.served
}
