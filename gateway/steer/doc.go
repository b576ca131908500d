// Package steer tells autoscalers and load balancers how much is offered, in the words
// that each of them understands.
//
//	Board     the figure of every resource, as policy/scale makes it
//	Report    the figures as JSON
//	External  the same as Kubernetes' external metrics API asks for them
//	Agent     what HAProxy's agent-check is told: a weight, or drain
//	Load      what ORCA's header says of an answer's server
//
// Nothing here decides: policy/scale does. A Board is safe for concurrent use; a look at it
// takes a microsecond a resource and takes place when somebody asks, and once a second
// besides, so that the means are means.
package steer
