// Package propose makes a first configuration out of what is known of a
// service's traffic: an access log, a recording, or a gateway that runs.
//
//	p, err := propose.FromTrace("access.log.gz", propose.Options{})
//	...
//	text, err := p.YAML() // with the reasoning as comments; passes spillway check
//
// What it proposes is arithmetic: the paths that matter are those that take the
// most of the service's time, and what a class needs in slots is Little's law,
// how many a second times how long each takes, in its busiest moments. What it
// cannot know it says: a log shows what a service has done, not what it can do,
// and nobody's patience is in it.
package propose
