package spread_test

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/policy/spread"
	"github.com/spillway-dev/spillway/policy/unit"
)

// One of two copies fails three times in a row, is left out, and comes back.
func Example() {
	s := spread.New(spread.Config{InARow: 3, For: 5 * time.Second}, 0)
	now := unit.Instant(0)
	a, _ := s.Add(now, false)
	b, _ := s.Add(now, false)
	for range 6 {
		now = now.Add(time.Second)
		c, _ := s.Take(now, spread.None)
		if c == a {
			s.Judge(now, c, spread.Failed, 10*time.Millisecond)
		} else {
			s.Judge(now, c, spread.Answered, 10*time.Millisecond)
		}
		s.Done(c)
	}
	fmt.Println("a out:", s.State(now, a).Out, "b out:", s.State(now, b).Out)
	now = now.Add(5 * time.Second)
	fmt.Printf("a out: %v, and it gets %d %% of its turns\n", s.State(now, a).Out, s.State(now, a).Part)
	// Output:
	// a out: true b out: false
	// a out: false, and it gets 9 % of its turns
}
