package plan

import (
	"fmt"
	"math"
	"time"
)

// Rung is a cheaper answer. Upstream is empty for one that calls nothing (a cache, a file).
type Rung struct {
	Name, Upstream string
	// Slots are how many requests of the class may be at the upstream at once, Service
	// how long it takes for one, Wait how long a request may wait for a slot. Zero: not
	// given; no wait.
	Slots         int64
	Service, Wait time.Duration
}

// Loss is the share of arrivals that find every slot taken where nobody waits: Erlang's
// formula for load = arrivals x service. It holds for any law of service times, and
// Poisson arrivals; 1 without slots. Cost: one step a slot.
func Loss(slots int64, load float64) float64 {
	if !(load > 0) {
		return 0
	}
	lost := 1.0
	for n := int64(1); n <= slots && lost > 0; n++ {
		offered := float64(load * lost)
		lost = offered / (float64(n) + offered)
	}
	return lost
}

// planRungs says of each rung that is an upstream what it can do, and what comes to it
// at the expected rate: what the class cannot serve, and nobody above it takes.
func (m *maker) planRungs(c *class, fs *figures) {
	arrives, known := BacklogGrowth(c.Expect.Rate, c.throughput), c.Expect.Rate > 0
	for i, r := range c.Rungs {
		if r.Upstream == "" || r.Slots <= 0 || r.Service <= 0 {
			continue
		}
		can := Throughput(r.Slots, r.Service)
		name := "rung_" + orDefault(r.Name, r.Upstream)
		fs.add(name+"_per_s", can, "/s", fmt.Sprintf("slots / service = %s / %s", count(r.Slots), r.Service),
			"no slot idle; slots that others leave idle are not counted")
		if !known {
			continue
		}
		fs.add(name+"_arrives_per_s", arrives, "/s", "what the rungs above leave of arrivals - throughput",
			"the primary is well; nothing is answered by a cache")
		answers, how, why := min(arrives, can), "min(arrivals, slots / service)", "who waits for a slot gets one in time"
		if r.Wait <= 0 {
			load := float64(arrives * r.Service.Seconds())
			answers = float64(arrives * (1 - Loss(r.Slots, load)))
			how, why = "arrivals x (1 - Erlang's loss at arrivals x service)", "nobody waits for a slot; they come as Poisson arrivals do"
		}
		fs.add(name+"_answers_per_s", answers, "/s", how, why)
		if arrives -= answers; arrives < 1e-3 {
			arrives = 0
		}
		if lost := math.Round(arrives); lost > 0 {
			m.warnRung(c, i, answers, arrives)
		}
	}
}

// warnRung says who is turned away although a rung is an upstream.
func (m *maker) warnRung(c *class, i int, answers, rest float64) {
	r, next := c.Rungs[i], "are refused"
	if i+1 < len(c.Rungs) {
		next = "go on to " + orDefault(c.Rungs[i+1].Name, c.Rungs[i+1].Upstream)
	}
	fix := "give it more slots"
	if r.Wait <= 0 {
		fix += ", or a wait of a few service times"
	}
	m.warn(c, c.where(), fmt.Sprintf("rung %s answers %s of what the class cannot serve at the expected rate, and %s %s; %s",
		orDefault(r.Name, r.Upstream), rate(answers), rate(rest), next, fix))
}

// orLadder is what else may be done for those who are turned away.
func orLadder(rungs []Rung) string {
	if len(rungs) > 0 {
		return "; its ladder answers them"
	}
	return ", or give it a ladder"
}
