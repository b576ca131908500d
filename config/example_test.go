package config_test

import (
	"fmt"

	"github.com/spillway-dev/spillway/config"
)

func ExampleParse() {
	c, err := config.Parse("spillway.yaml", []byte(`
upstreams:
  app: { url: "http://127.0.0.1:9001", slots: 48 }
classes:
  checkout: { match: { path: "/checkout/*" }, slots: 40, budget: { latency: 300ms, service: 100ms } }
  everything: { slots: 8 }
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, class := range c.WithDefaults().Classes {
		fmt.Println(class.Name, class.Upstream, class.Slots.Fixed, class.Budget.Latency, class.Order)
	}
	// Output:
	// checkout app 40 300ms adaptive
	// everything app 8 30s adaptive
}

// All problems come at once, each with its place and what would be right.
func ExampleParse_wrong() {
	_, err := config.Parse("spillway.yaml", []byte(`
upstreams:
  app: { url: "http://127.0.0.1:9001" }
classes:
  checkout:
    slotz: 40
    deadline: 300
`))
	fmt.Println(err)
	// Output:
	// spillway.yaml:6:5: unknown key "slotz" in classes.checkout; did you mean "slots"?
	// spillway.yaml:7:15: classes.checkout.deadline: 300 has no unit; durations need a unit: ns, us, ms, s, m or h (for example 300ms or 300s)
}

func ExampleMatch_Pattern() {
	p := config.Match{Path: config.Words{"/checkout/*"}, Method: config.Words{"POST"}}.Pattern()
	none := func(string) string { return "" }
	fmt.Println(p.Matches("POST", "shop.example.com", "/checkout/pay", none))
	fmt.Println(p.Matches("GET", "shop.example.com", "/checkout/pay", none))
	// Output:
	// true
	// false
}
