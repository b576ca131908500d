package quota

import (
	"strings"
	"testing"
	"time"
)

func TestLimitsThatMakeNoSense(t *testing.T) {
	for _, c := range []struct {
		name string
		l    Limit
		want string // a part of the fault; "": none
	}{
		{"a bucket", Limit{Unit: Tokens, Most: 10, Refill: 1, Every: time.Second}, ""},
		{"a window", Limit{Unit: Money, Most: 10, Window: Window{Period: Month}}, ""},
		{"slots", Limit{Unit: Concurrent, Most: 10}, ""},
		{"nothing at all", Limit{}, "write 1 to"},
		{"too much", Limit{Unit: Tokens, Most: MostMax + 1, Refill: 1, Every: 1}, "write 1 to"},
		{"no refill", Limit{Unit: Tokens, Most: 10, Every: time.Second}, "a refill of 0"},
		{"no time", Limit{Unit: Tokens, Most: 10, Refill: 1}, "every 0s"},
		{"both", Limit{Unit: Tokens, Most: 10, Refill: 1, Every: 1, Window: Window{Period: Day}}, "write one"},
		{"slots that refill", Limit{Unit: Concurrent, Most: 10, Refill: 1, Every: 1}, "when calls end"},
		{"slots of a day", Limit{Unit: Concurrent, Most: 10, Window: Window{Period: Day}}, "when calls end"},
		{"no such unit", Limit{Unit: Unit(Units), Most: 1}, "no such unit"},
		{"no such period", Limit{Unit: Tokens, Most: 1, Window: Window{Period: 9}}, "day or month"},
	} {
		err := c.l.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
