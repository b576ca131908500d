package scale

// Weight returns the share of its usual traffic, in percent from 1 to 100, that a copy
// tells a load balancer it can take: all of it while what is offered fits, then what fits
// of what is offered. Zero would take it out, which only draining does; a copy that leaves
// because it is full hands its load to copies that are full as well.
func (r Reading) Weight() int {
	if r.Load <= 1+hair {
		return 100
	}
	return max(1, int(100/r.Load+hair))
}
