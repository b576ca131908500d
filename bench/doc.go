// Package bench is the module in which spillway is measured against its peers,
// so that they are no dependency of spillway itself. It has nothing to import:
// each folder is a harness of its own. See README.md for what is measured and
// how to repeat it.
//
//	decision    verdicts, admissions, refusals, fair queueing, in nanoseconds
//	proxy       the gateway against caddy, net/http and itself without admission
//	admission   what admission costs a proxied request, in one process
//	overload    goodput at 2, 5 and 10 times what a service can do
//	loadgen     how well the load generator keeps to its schedule
//	simulator   simulated requests per second, and memory
package bench
