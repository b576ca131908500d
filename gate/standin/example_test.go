package standin_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/gate/standin"
)

func Example() {
	scores := standin.New(standin.Options[float64]{Limits: standin.Limits{Entries: 100_000, Age: time.Hour}})
	down, err := standin.NewLadder(standin.LadderOptions{}, standin.LastKnown(scores), standin.Default(0.5))
	if err != nil {
		fmt.Println(err)
		return
	}
	up := true
	score := func(customer string) {
		v, said, err := standin.Do(context.Background(), down, customer, func(context.Context) (float64, error) {
			if !up {
				return 0, errors.New("connection refused")
			}
			return 0.87, nil
		})
		fmt.Println(customer, v, said.Rung, said.Reason, err)
	}
	score("ann")
	up = false
	score("ann")
	score("bob")
	// Output:
	// ann 0.87 primary served <nil>
	// ann 0.87 last_known failed <nil>
	// bob 0.5 default failed <nil>
}

// A rung that the program works out, in a pool of its own: two at once, for whom
// nobody waits. Whoever finds both at work is given the next rung.
func ExampleComputed() {
	small, err := gate.New(gate.Config{Name: "small model", Classes: []gate.Class{{
		Name: "score", Pool: gate.Pool{Slots: 2, Latency: time.Millisecond, Service: time.Millisecond},
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer small.Close()
	estimate := standin.Computed("small_model", time.Millisecond, func(ctx context.Context, customer string) (v float64, err error) {
		return v, small.Do(ctx, gate.Request{}, func(context.Context) error {
			v = 0.4
			return nil
		})
	})
	down, err := standin.NewLadder(standin.LadderOptions{}, estimate, standin.Default(0.5))
	if err != nil {
		fmt.Println(err)
		return
	}
	store := func(context.Context) (float64, error) { return 0, errors.New("connection refused") }
	score := func() {
		v, said, _ := standin.Do(context.Background(), down, "ann", store)
		fmt.Println(v, said.Rung, said.Reason)
	}
	score()
	busy, _ := small.Acquire(context.Background(), gate.Request{})
	again, _ := small.Acquire(context.Background(), gate.Request{})
	score()
	busy.Done()
	again.Done()
	score()
	// Output:
	// 0.4 small_model failed
	// 0.5 default failed
	// 0.4 small_model failed
}
