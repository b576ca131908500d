package gate_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/reason"
)

// A piece of work that runs only when there is a slot for it, and what to do
// when there is none.
func Example() {
	g, err := gate.New(gate.Config{Classes: []gate.Class{{
		Name: "checkout",
		Pool: gate.Pool{Slots: 40, Latency: 300 * time.Millisecond, Service: 100 * time.Millisecond},
	}}})
	if err != nil {
		fmt.Println(err) // says what is wrong and what would be right
		return
	}
	err = g.Do(context.Background(), gate.Request{Tenant: "acme"}, func(ctx context.Context) error {
		fmt.Println("the work runs")
		return nil
	})
	if refused, ok := errors.AsType[*gate.Refusal](err); ok {
		fmt.Println("not now:", refused.Reason, "come back in", refused.RetryAfter)
	}
	// Output: the work runs
}

// A permit, for work that does not fit into a function.
func ExampleGate_Acquire() {
	g, _ := gate.New(gate.Config{Classes: []gate.Class{{Name: "checkout", Pool: gate.Pool{Slots: 1, Bound: 1}}}})
	p, err := g.Acquire(context.Background(), gate.Request{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Done()
	fmt.Println("slots used:", g.States()[0].Used)
	// Output: slots used: 1
}

// Best-effort work is thrown away where checkout would wait, and the two never
// share a queue.
func ExampleClass() {
	g, _ := gate.New(gate.Config{Classes: []gate.Class{
		{Name: "checkout", Pool: gate.Pool{Slots: 40, Borrow: 8, Latency: 300 * time.Millisecond}},
		{Name: "analytics", Pool: gate.Pool{Slots: 1, Latency: time.Second, Service: time.Second, WhenFull: pool.Drop}},
	}})
	analytics := gate.Request{Class: g.Class("analytics")}
	p, _ := g.Acquire(context.Background(), analytics)
	defer p.Done()
	_, err := g.Acquire(context.Background(), analytics)
	fmt.Println(errors.Is(err, reason.Dropped), errors.Is(err, gate.ErrRefused))
	// Output: true true
}
