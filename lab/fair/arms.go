package fair

import "github.com/spillway-dev/spillway/lab"

// Table returns the arms whose results are known exactly.
func Table() []Setting {
	arm := func(name, does string, change func(*Options)) Setting {
		o := Defaults()
		change(&o)
		return Setting{
			Name: name, Does: does,
			Policy: o.Policy, Weights: o.Weights, Ranks: []string{"B", "C", "A"},
			Slots: o.Slots, DeadlineS: o.DeadlineS, HorizonS: 10, TenantQueue: 12,
			Offers:      []Offer{{"A", o.Burst, 1}, {"B", 6, 1}, {"C", 6, 1}},
			RetryCopies: o.RetryCopies, SameKey: o.SameKey, Service: "1s",
		}
	}
	return []Setting{
		arm("fifo", "the order of arrival decides", func(o *Options) { o.Policy = "fifo" }),
		arm("priority", "B before C before A, always", func(o *Options) { o.Policy = "priority" }),
		arm("rr", "one each in turn", func(o *Options) { o.Policy = "rr" }),
		arm("wrr", "two, one and one in turn", func(*Options) {}),
		arm("wrr-2-copies", "wrr; A offers its burst twice more under fresh keys", func(o *Options) { o.RetryCopies = 2 }),
		arm("wrr-1s", "wrr; nothing starts at or after 1 s", func(o *Options) { o.DeadlineS = 1 }),
		arm("wrr-6-slots", "wrr; six slots instead of three", func(o *Options) { o.Slots = 6 }),
		arm("drr", "as much cost in a turn as the weight; all costs are 1 here", func(o *Options) { o.Policy = "drr" }),
		arm("wrr-same-key", "wrr; the two copies carry the keys of their first attempts", func(o *Options) { o.RetryCopies, o.SameKey = 2, true }),
	}
}

// TablePredictions are the exact results.
func TablePredictions() []lab.Prediction {
	exact := func(arm, says string, figures []string, values ...float64) lab.Prediction {
		p := lab.Prediction{Says: says, Arm: arm, Figures: figures, Is: lab.Is}
		for _, v := range values {
			p.Values = append(p.Values, number(v))
		}
		return p
	}
	completed := []string{"completed.A", "completed.B", "completed.C"}
	history := []string{"queue_history.0", "queue_history.1", "queue_history.2", "queue_history.3", "queue_history.4",
		"queue_history.5", "queue_history.6", "queue_history.7", "queue_history.8", "queue_history.9"}
	return []lab.Prediction{
		exact("fifo", "A/B/C complete 12 / 0 / 0", completed, 12, 0, 0),
		exact("fifo", "18 are rejected, 12 expire, the queue peaks at 24", []string{"rejected.A", "expired.B", "expired.C", "peak_queue"}, 18, 6, 6, 24),
		exact("priority", "A/B/C complete 0 / 6 / 6", completed, 0, 6, 6),
		exact("rr", "A/B/C complete 4 / 4 / 4", completed, 4, 4, 4),
		exact("wrr", "A/B/C complete 6 / 3 / 3", completed, 6, 3, 3),
		exact("wrr", "the queue goes 21, 18, 15, 0 and stays empty", history, 21, 18, 15, 0, 0, 0, 0, 0, 0, 0),
		exact("wrr-2-copies", "A/B/C complete 6 / 3 / 3", completed, 6, 3, 3),
		exact("wrr-2-copies", "78 are rejected: retries buy no capacity", []string{"rejected.A", "rejected.B", "rejected.C"}, 78, 0, 0),
		exact("wrr-1s", "A/B/C complete 2 / 1 / 0", completed, 2, 1, 0),
		exact("wrr-1s", "21 admitted jobs expire", []string{"expired.A", "expired.B", "expired.C"}, 10, 5, 6),
		exact("wrr-6-slots", "A/B/C complete 12 / 6 / 6", completed, 12, 6, 6),
		exact("drr", "with equal costs drr is wrr: 6 / 3 / 3", completed, 6, 3, 3),
		exact("wrr-same-key", "60 retries are recognised and change nothing: 6 / 3 / 3",
			append([]string{"recognised.A", "offered.A", "rejected.A"}, completed...), 60, 30, 18, 6, 3, 3),
	}
}

// More returns the arms beyond the table.
func More() []Setting {
	equal := map[string]int{"A": 1, "B": 1, "C": 1}
	unequal := func(name, policy, does string) Setting {
		return Setting{Name: name, Does: does, Policy: policy, Weights: equal, Slots: 3, DeadlineS: 10, HorizonS: 10, TenantQueue: 40,
			Offers: []Offer{{"A", 40, 4}, {"B", 40, 1}, {"C", 40, 1}}, Service: "1s"}
	}
	random := func(name, policy, does string) Setting {
		return Setting{Name: name, Does: does, Policy: policy, Weights: map[string]int{"A": 2, "B": 1, "C": 1},
			Slots: 3, DeadlineS: 10, HorizonS: 300, TenantQueue: 12, Service: "exp:1s",
			Stream: &Stream{PerS: 12, Shares: "A=4,B=1,C=1", ForS: 300, Costs: []Offer{{"A", 0, 4}}}}
	}
	crowd := func(name string, n, slots int) Setting {
		return Setting{Name: name, Does: "two jobs each, slots for half of all in the window", Policy: "wrr", Weights: map[string]int{},
			Slots: slots, DeadlineS: 4, HorizonS: 10, TenantQueue: 2, Crowd: &Crowd{Tenants: n, Each: 2}, Service: "1s"}
	}
	shared := random("random-fifo-shared", "fifo", "random-fifo without a bound of each tenant's own")
	shared.TenantQueue = roomForAll
	return []Setting{
		unequal("cost-wrr", "wrr", "equal weights; a job of A costs 4, of the others 1"),
		unequal("cost-drr", "drr", "the same under drr"),
		random("random-fifo", "fifo", "Poisson arrivals at four times capacity, exponential service, 300 s"),
		shared,
		random("random-wrr", "wrr", "the same under wrr 2:1:1"),
		random("random-drr", "drr", "the same under drr 2:1:1, a job of A costing 4"),
		crowd("tenants-4", 4, 1),
		crowd("tenants-1000", 1000, 250),
		crowd("tenants-100000", 100_000, 25_000),
		{Name: "reweigh", Does: "wrr 2:1:1, from 4.5 s on 1:1:2; four slots", Policy: "wrr", Weights: map[string]int{"A": 2, "B": 1, "C": 1},
			Reweigh: &Reweigh{AtS: 4.5, Weights: map[string]int{"A": 1, "B": 1, "C": 2}},
			Slots:   4, DeadlineS: 10, HorizonS: 10, TenantQueue: 40,
			Offers: []Offer{{"A", 40, 1}, {"B", 40, 1}, {"C", 40, 1}}, Service: "1s"},
	}
}

// MorePredictions are what theory says of them.
func MorePredictions() []lab.Prediction {
	return []lab.Prediction{
		lab.Expect("cost-wrr", "jain", lab.Is, 1, "wrr shares counts: all complete as many jobs"),
		lab.Expect("cost-wrr", "jain_by_cost", lab.AtMost, 0.7, "equal counts are not equal work: Jain by cost is (4+1+1)^2 / 3(16+1+1) = 0.667"),
		lab.Expect("cost-drr", "jain_by_cost", lab.AtLeast, 0.95, "drr shares cost"),
		lab.Expect("cost-drr", "worst_lag_by_cost", lab.AtMost, 7, "nobody who waits lags by more than the written bound, 2 + 4 + 1"),
		lab.Expect("random-fifo", "jain", lab.AtMost, 0.9, "in one queue the share follows the flood, not the weight"),
		lab.Expect("random-fifo-shared", "jain", lab.AtMost, 0.92, "without it the share follows the flood: (2+1+1)^2 / 3(4+1+1) = 0.889"),
		lab.Expect("random-wrr", "jain", lab.AtLeast, 0.98, "by weight, A gets twice what B and C get, whatever it offers"),
		lab.Expect("random-drr", "jain_by_cost", lab.AtLeast, 0.98, "by weight in cost"),
		lab.Expect("random-drr", "jain", lab.AtMost, 0.9, "and therefore not in counts"),
		lab.Expect("tenants-4", "completed_least", lab.Is, 1, "each of 4 completes one"),
		lab.Expect("tenants-4", "completed_most", lab.Is, 1, "and no more than one"),
		lab.Expect("tenants-1000", "completed_least", lab.Is, 1, "each of 1,000 completes one"),
		lab.Expect("tenants-1000", "completed_most", lab.Is, 1, "and no more than one"),
		lab.Expect("tenants-100000", "completed_least", lab.Is, 1, "each of 100,000 completes one"),
		lab.Expect("tenants-100000", "completed_most", lab.Is, 1, "and no more than one"),
		{Says: "20 starts by 2:1:1, then 20 by 1:1:2: 15 / 10 / 15", Arm: "reweigh", Is: lab.Is,
			Figures: []string{"completed.A", "completed.B", "completed.C"}, Values: numbers(15, 10, 15)},
	}
}

// AddedAfter is what was added when the first results of More had been seen.
var AddedAfter = []string{
	"random-fifo-shared and its prediction: random-fifo had not shown what was predicted, because the bound of each tenant's own queue " +
		"already keeps a flood from the others' places, whatever the order; the wrong prediction stays",
}
