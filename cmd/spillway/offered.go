package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/workload"
)

// offered are the flags that say what load is offered, the same for sim, load
// and demo.
type offered struct {
	rate, arrivals, tenants, importance, keys string
	length                                    time.Duration
	sessions                                  int
	deadline                                  time.Duration
	cost, bytes                               int64
	seed                                      uint64
	replay                                    replay
}

func (o *offered) flags(c *cobra.Command, rate string) {
	f := c.Flags()
	f.StringVar(&o.rate, "rate", rate, "requests per second, or steps as in 100:60s,300:30s")
	f.StringVar(&o.arrivals, "arrivals", "poisson", "poisson, constant, or bursts:on=1s,off=9s")
	f.DurationVar(&o.length, "for", time.Minute, "how long load is offered; with --trace, all of it unless said")
	f.StringVar(&o.tenants, "tenants", "", "whose requests they are, with shares: acme=8,beta=1")
	f.StringVar(&o.importance, "importance", "", "levels, most important first, with shares: user=9,prefetch=1")
	f.IntVar(&o.sessions, "sessions", 0, "from how many sessions; 0 for none")
	f.StringVar(&o.keys, "keys", "", "how many questions are asked, the k-th 1/k as often as the first; alike:1000 for all as often")
	f.DurationVar(&o.deadline, "deadline", 0, "what every caller allows; 0 names none, so that the class's own applies")
	f.Int64Var(&o.cost, "cost", 1, "what a request costs, in the tenant's units")
	f.Int64Var(&o.bytes, "bytes", 0, "size of a request's body")
	f.Uint64Var(&o.seed, "seed", 0, "seed of every draw; 0: the configuration's, or 1")
	o.replay.flags(c)
}

// spec returns the drawn load.
func (o *offered) spec() (s workload.Spec, err error) {
	s = workload.Spec{Sessions: o.sessions, Deadline: o.deadline, Cost: o.cost, Bytes: o.bytes}
	if s.Rate, err = workload.ParseRate(o.rate); err != nil {
		return s, err
	}
	if s.Arrivals, err = workload.ParseArrivals(o.arrivals); err != nil {
		return s, err
	}
	if s.Keys, err = workload.ParseKeys(o.keys); err != nil {
		return s, err
	}
	if o.tenants != "" {
		if s.Tenants, err = workload.ParseMix(o.tenants); err != nil {
			return s, err
		}
	}
	if o.importance != "" {
		s.Importance, err = workload.ParseMix(o.importance)
	}
	return s, err
}

// span returns how long load is offered: all of a recording unless --for was
// given.
func (o *offered) span(c *cobra.Command) time.Duration {
	if o.replay.trace != "" && !c.Flags().Changed("for") {
		return 0
	}
	return o.length
}
