package standin_test

import (
	"context"
	"errors"
	"fmt"
	"time"

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
