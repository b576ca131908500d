package limit

import "time"

// RoutesMax is how many routes have a baseline of their own; those beyond share
// the last one, whose calls then should take about the same time.
const RoutesMax = 16

// firstSamples of a route make its first baseline, after as many that do not count:
// of calls that began together the quickest end first.
const firstSamples = 16

// wildest is by how many times a sample may exceed what is usual of late and still
// count in full: one that is frozen for a second says that something froze, not how
// long the others wait.
const wildest = 8

// routes are the baselines: how long a call of each takes when none waits for
// another inside the resource, in nanoseconds. What calls took is compared with what their routes'
// baselines add up to, so that another mixture of slow and quick ones is no news.
type routes struct {
	of [RoutesMax]route
}

type route struct {
	baseline float64 // 0: unknown
	rests    float64 // on how many calls it rests
	n        int32   // of the window
	sum      float64
}

// add takes a sample in and returns it, as far as it counts, beside the baseline of
// its route, which is 0 while not known; usual is the ratio of the two of late.
func (r *routes) add(index int, held time.Duration, usual float64) (x, baseline float64) {
	one := &r.of[min(max(index, 0), RoutesMax-1)]
	x = max(float64(held), 1)
	if one.baseline == 0 {
		if one.n++; one.n <= firstSamples {
			return 0, 0
		}
		one.sum += x
		if one.n >= 2*firstSamples {
			one.baseline, one.rests = one.sum/firstSamples/max(usual, 1), firstSamples
			one.n, one.sum = 0, 0
		}
		return 0, 0
	}
	x = min(x, float64(float64(one.baseline*wildest)*max(usual, 1)))
	one.n++
	one.sum += x
	return x, one.baseline
}

// long reports whether a call that was broken off had gone on for longer than is
// usual. One that had little of its deadline left when it began says nothing.
func (r *routes) long(index int, held time.Duration) bool {
	return float64(held) > float64(2*r.of[min(max(index, 0), RoutesMax-1)].baseline)
}

// clear begins another window; a first baseline still being made stays.
func (r *routes) clear() {
	for i := range r.of {
		if one := &r.of[i]; one.baseline > 0 {
			one.n, one.sum = 0, 0
		}
	}
}

// adopt moves the baselines towards what calls took in the mean of n, which was usual:
// each by its part of the calls beside those that it rests on, which are most at the most;
// or all of the way, where they are of another time. What the window says of each is
// multiplied; a route that was hardly there goes with the others.
func (r *routes) adopt(usual, times, n float64, anew bool, most float64) {
	var here float64
	for i := range r.of {
		here += float64(r.of[i].n)
	}
	rests := r.known()
	for i := range r.of {
		one := &r.of[i]
		if one.baseline == 0 {
			continue
		}
		seen, weight := float64(one.baseline*usual), n/(n+rests)
		own := float64(float64(one.n)*n) / here
		if one.n >= firstSamples/2 {
			seen, weight = float64(one.sum*times)/float64(one.n), own/(own+one.rests)
			one.rests = min(one.rests+own, float64(most*own)/n)
		}
		if anew {
			weight = 1
			one.rests = min(one.rests, own)
		}
		one.baseline += float64(weight * (seen - one.baseline))
	}
}

// scale multiplies all baselines.
func (r *routes) scale(by float64) {
	for i := range r.of {
		r.of[i].baseline = float64(r.of[i].baseline * by)
	}
}

// known is on how many calls all baselines rest.
func (r *routes) known() float64 {
	var n float64
	for i := range r.of {
		n += r.of[i].rests
	}
	return n
}

// mean returns the baseline over the mixture of the window, 0 while unknown.
func (r *routes) mean() float64 {
	var n, sum float64
	for i := range r.of {
		if one := &r.of[i]; one.baseline > 0 {
			weight := float64(one.n) + 1e-6
			n += weight
			sum += float64(weight * one.baseline)
		}
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

func (r *routes) export() []time.Duration {
	var out []time.Duration
	for i := range r.of {
		if b := r.of[i].baseline; b > 0 {
			for len(out) <= i {
				out = append(out, 0)
			}
			out[i] = time.Duration(b)
		}
	}
	return out
}

func (r *routes) take(baselines []time.Duration) {
	for i, b := range baselines[:min(len(baselines), RoutesMax)] {
		if b > 0 {
			r.of[i] = route{baseline: float64(b)}
		}
	}
}
