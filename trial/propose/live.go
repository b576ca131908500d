package propose

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/spillway-dev/spillway/config"
)

// Pools is what a gateway's /debug/pools says, as far as it is needed.
type Pools struct {
	Pools []struct {
		Resource string `json:"resource"`
		Class    string `json:"class"`
		Removed  bool   `json:"removed"`
		Slots    struct {
			Guaranteed int `json:"guaranteed"`
			Used       int `json:"used"`
		} `json:"slots"`
		Measured struct {
			HoldingMS float64 `json:"holding_ms"`
			ServiceMS float64 `json:"service_ms"`
		} `json:"measured"`
		Offered  int64            `json:"offered"`
		Answered map[string]int64 `json:"answered"`
	} `json:"pools"`
}

// ParsePools reads the JSON of /debug/pools.
func ParsePools(data []byte) (*Pools, error) {
	var p Pools
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, fmt.Errorf("the gateway's /debug/pools is no JSON as expected: %w", err)
	}
	if len(p.Pools) == 0 {
		return nil, errors.New("the gateway has no classes")
	}
	return &p, nil
}

// Enough says what is missing for FromLive to go by a look at a gateway, so that
// nobody watches one for an hour to be told. cfg is as FromLive takes it.
func (p *Pools) Enough(cfg *config.Config) error {
	if cfg == nil && len(p.Pools) != 1 {
		return fmt.Errorf("the gateway has %d classes and does not tell what they match: add its file with -c FILE", len(p.Pools))
	}
	return nil
}

// FromLive proposes slots from two looks at a gateway, so far apart. cfg is the
// configuration it runs, which the proposal starts from; nil: it was started
// with --upstream and has one class.
func FromLive(before, after *Pools, apart time.Duration, cfg *config.Config, o Options) (*Proposal, error) {
	if err := after.Enough(cfg); err != nil {
		return nil, err
	}
	p := newProposal()
	if cfg == nil {
		cfg = &config.Config{Version: 1, Classes: []config.Class{{Name: after.Pools[0].Class, Match: config.Match{Path: config.Words{"/*"}}}}}
		p.Config = cfg
		p.service(o.Upstream)
	} else {
		copied := *cfg
		copied.Classes, copied.Upstreams = slices.Clone(cfg.Classes), slices.Clone(cfg.Upstreams)
		p.Config = &copied
	}
	p.head("Proposed by spillway init from a gateway that was watched for %v.", apart.Round(time.Millisecond))
	p.head("That is what was asked of it in that time, not what its busiest hour asks: look when it is busy. " +
		"A recording (spillway serve --record FILE) knows more.")
	for i := range p.Config.Classes {
		p.live(&p.Config.Classes[i], before, after, apart)
	}
	p.sum()
	return p, nil
}

func (p *Proposal) live(c *config.Class, before, after *Pools, apart time.Duration) {
	for _, now := range after.Pools {
		if now.Class != c.Name || now.Removed {
			continue
		}
		offered := now.Offered
		for _, then := range before.Pools {
			if then.Class == now.Class && then.Resource == now.Resource {
				offered -= then.Offered
			}
		}
		perSecond := float64(max(offered, 0)) / apart.Seconds()
		holding := time.Duration(now.Measured.HoldingMS * float64(time.Millisecond))
		if perSecond == 0 || holding == 0 {
			c.Slots = config.Slots{Fixed: max(now.Slots.Guaranteed, 1)}
			p.say(At("classes", c.Name, "slots"), "As it has now: too little was asked of it to propose anything.")
			return
		}
		need := float64(perSecond * holding.Seconds())
		c.Slots = config.Slots{Fixed: max(2, int(math.Ceil(headroom*need)))}
		c.Expect.Rate = math.Ceil(10*perSecond) / 10
		p.say(At("classes", c.Name, "slots"), "%.3g/s x %s is %s in use on average (Little's law); a quarter more, at least 2. It has %d now, of which %d were held; %d of %d requests since its start were served.",
			perSecond, short(holding), slots(need), now.Slots.Guaranteed, now.Slots.Used, now.Answered["served"], now.Offered)
		p.say(At("classes", c.Name, "expect"), "As it was offered; plan checks the class against it.")
		return
	}
	c.Slots = config.Slots{Fixed: max(c.Slots.Fixed, 1)}
	p.say(At("classes", c.Name, "slots"), "The gateway has no such class: as the file has it.")
}

// sum gives each upstream as many slots as its classes have, if it has none or
// fewer.
func (p *Proposal) sum() {
	for i := range p.Config.Upstreams {
		u := &p.Config.Upstreams[i]
		sum := 0
		for _, c := range p.Config.Classes {
			if c.Upstream == u.Name || c.Upstream == "" {
				sum += c.Slots.Fixed
			}
		}
		if u.Slots < sum {
			u.Slots = sum
			p.say(At("upstreams", u.Name, "slots"), "The classes' together.")
		}
	}
}
