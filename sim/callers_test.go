package sim_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/sim"
	"github.com/spillway-dev/spillway/workload"
)

const ms = time.Millisecond

// one is a class of one slot and a room for so many, in which nothing is
// measured and nobody hopeless.
func one(room int) boundary.Class {
	return boundary.Class{
		Name: "one", Deadline: time.Second, AdmitHopeless: true,
		Pool: pool.Config{Slots: 1, Bound: max(room, 1), Latency: time.Second, Service: 10 * ms, Order: pool.FIFO},
	}
}

// at is arrivals at these milliseconds, each of which takes 10 ms to serve.
func at(instants ...int) workload.Source {
	arrivals := make([]workload.Arrival, len(instants))
	for i, instant := range instants {
		arrivals[i] = workload.Arrival{At: time.Duration(instant) * ms, Service: 10 * ms}
	}
	return workload.Slice(arrivals)
}

// Each line is what became of one attempt: which request's, when it was
// answered, and how.
func TestCallersStepByStep(t *testing.T) {
	for _, c := range []struct {
		name      string
		arrivals  []int
		class     boundary.Class
		upstream  sim.Upstream
		call      sim.Call
		callers   sim.Callers
		bare      bool
		want      []string
		useful    float64
		stoppedAs int64
	}{{
		name:     "all wait their turn",
		arrivals: []int{0, 1, 2}, class: one(5), useful: 1,
		want: []string{"0.0 10ms served", "1.0 20ms served", "2.0 30ms served"},
	}, {
		name:     "a slot that comes free is free for who arrives at that instant",
		arrivals: []int{0, 10, 20}, class: one(1), useful: 1,
		want: []string{"0.0 10ms served", "1.0 20ms served", "2.0 30ms served"},
	}, {
		name:     "who hangs up in the queue is gone at once; work that runs goes on",
		arrivals: []int{0, 1}, class: one(5), callers: sim.Callers{Patience: 5 * ms}, useful: 0,
		want: []string{"0.0 5ms caller_gone", "1.0 6ms caller_gone"},
	}, {
		name:     "an upstream that notices stops work nobody waits for",
		arrivals: []int{0, 1, 6}, class: one(5), callers: sim.Callers{Patience: 5 * ms}, upstream: sim.Upstream{NoticesCancel: true}, useful: 0,
		want:      []string{"0.0 5ms caller_gone", "1.0 6ms caller_gone", "2.0 11ms caller_gone"},
		stoppedAs: 3,
	}, {
		name:     "a refused caller comes back after its pause, then gives up",
		arrivals: []int{0, 1, 2}, class: one(1), callers: sim.Callers{Retries: 2, Backoff: sim.Backoff{Base: 3 * ms}}, useful: 1,
		want: []string{"2.0 2ms queue_full", "2.1 5ms queue_full", "2.2 8ms queue_full", "0.0 10ms served", "1.0 20ms served"},
	}, {
		name:     "no attempt starts after what the caller allows in all",
		arrivals: []int{0, 1, 2}, class: one(1), callers: sim.Callers{Retries: 9, Backoff: sim.Backoff{Base: 3 * ms}, Within: 6 * ms}, useful: 1,
		want: []string{"2.0 2ms queue_full", "2.1 5ms queue_full", "0.0 10ms served", "1.0 20ms served"},
	}, {
		name:     "a budget of one retry is one retry",
		arrivals: []int{0, 1, 2, 3}, class: one(1), callers: sim.Callers{Retries: 9, Backoff: sim.Backoff{Base: 5 * ms}, Budget: sim.Budget{PerSecond: 1e-9, Burst: 1}}, useful: 1,
		want: []string{"2.0 2ms queue_full", "3.0 3ms queue_full", "2.1 7ms queue_full", "0.0 10ms served", "1.0 20ms served"},
	}, {
		name:     "a deadline answers the caller, the work holds its slot",
		arrivals: []int{0, 9}, class: deadline(one(5), 8*ms), useful: 0,
		want: []string{"0.0 8ms timeout", "1.0 17ms timeout"},
	}, {
		name:     "a deadline that is passed on ends the work too",
		arrivals: []int{0, 9}, class: deadline(one(5), 8*ms), upstream: sim.Upstream{KeepsDeadline: true}, call: sim.Call{PassDeadline: true}, useful: 0,
		want:      []string{"0.0 8ms timeout", "1.0 17ms timeout"},
		stoppedAs: 2,
	}, {
		name:     "a deadline for starting lets work that has started end",
		arrivals: []int{0, 1, 2}, class: deadline(one(5), 12*ms), call: sim.Call{StartDeadline: true}, useful: 1,
		want: []string{"0.0 10ms served", "2.0 14ms expired", "1.0 20ms served"},
	}, {
		name:     "a call that times out is answered, its work abandoned",
		arrivals: []int{0, 1}, class: one(5), call: sim.Call{Timeout: 4 * ms}, useful: 0,
		want: []string{"0.0 4ms timeout", "1.0 14ms timeout"},
	}, {
		name:     "without a boundary the answer comes too late, and the work is done for nobody",
		arrivals: []int{0, 1, 2}, class: deadline(one(1), 15*ms), bare: true, useful: 1.0 / 3,
		want: []string{"0.0 10ms served", "1.0 16ms timeout", "2.0 17ms timeout"},
	}, {
		name:     "an upstream that fails at once fails all that it is sent",
		arrivals: []int{0, 20, 40}, class: one(5), useful: 1,
		upstream: sim.Upstream{Conditions: must(workload.ParseConditions("outage@5ms+20ms")), FailIn: 2 * ms},
		want:     []string{"0.0 5ms failed", "1.0 22ms failed", "2.0 50ms served"},
	}} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			c.upstream.Slots = 1
			r := play(t, sim.Scenario{
				Unprotected: c.bare, Check: true,
				Resources: []sim.Resource{{Boundary: strict(c.class), Upstream: c.upstream, Calls: []sim.Call{c.call}}},
				Streams:   []sim.Stream{{Source: at(c.arrivals...), Callers: c.callers}},
				// What is left to do once all are answered is part of the story.
				For: time.Second,
				Record: func(r *sim.Record) {
					got = append(got, fmt.Sprintf("%d.%d %v %v", r.Number, r.Attempt, r.Answered, r.Reason))
				},
			})
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got\n%q, want\n%q", got, c.want)
			}
			if u := r.Resources[0].UsefulShare(); float64(u) != c.useful {
				t.Errorf("%v of the work was of use, want %v", u, c.useful)
			}
			if n := r.Resources[0].Stopped; n != c.stoppedAs {
				t.Errorf("%d pieces of work were stopped, want %d", n, c.stoppedAs)
			}
		})
	}
}

func deadline(cl boundary.Class, d time.Duration) boundary.Class {
	cl.Deadline = d
	return cl
}

// Who honours Retry-After comes back no earlier than it says; who does not,
// after its own pause.
func TestRetryAfterIsHonouredByWhoHonoursIt(t *testing.T) {
	for _, honours := range []bool{false, true} {
		var told, came time.Duration
		play(t, sim.Scenario{
			Resources: []sim.Resource{{Boundary: strict(one(1)), Upstream: sim.Upstream{Slots: 1}}},
			Streams: []sim.Stream{{
				Source:  at(0, 1, 2),
				Callers: sim.Callers{Retries: 1, Backoff: sim.Backoff{Base: ms}, HonourRetryAfter: honours},
			}},
			Record: func(r *sim.Record) {
				switch {
				case r.Reason == reason.QueueFull && r.Attempt == 0:
					told = time.Duration(r.Arrived) + r.RetryAfter
				case r.Attempt == 1:
					came = time.Duration(r.Arrived)
				}
			},
		})
		want := 3 * ms
		if honours {
			want = told
		}
		if told <= 3*ms || came != want {
			t.Errorf("honours %v: told to come at %v, came at %v, want %v", honours, told, came, want)
		}
	}
}

// The result joins the attempts of one caller again.
func TestCallersAreCountedOnce(t *testing.T) {
	r := play(t, sim.Scenario{
		Resources: []sim.Resource{{Boundary: strict(one(1)), Upstream: sim.Upstream{Slots: 1}}},
		Streams: []sim.Stream{{
			Source:  at(0, 1, 2, 3),
			Callers: sim.Callers{Retries: 5, Backoff: sim.Backoff{Base: 9 * ms}, Budget: sim.Budget{Share: 0.25, Burst: 2}},
		}},
	})
	want := sim.CallersResult{Callers: 4, Attempts: 6, Answered: 3, GaveUp: 1, Withheld: 1}
	if got := r.Callers[0]; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if r.Report.Offered != 6 {
		t.Errorf("%d were offered, want every attempt", r.Report.Offered)
	}
}
