// Package limits is the experiment with limits that find the capacity by
// themselves: a resource whose true capacity is known to the experiment alone
// changes, and what each law makes of it is judged by the work in flight at the
// resource, in means of a second.
//
// An arm is a law in a scenario. The resource has so many servers and a line of its
// own for what it is sent beyond them, so that too much in flight makes it slow and
// gives no more a second: its capacity is what is to be found. The laws stand behind
// one interface in policy/limit and are driven by the machine that runs live.
package limits
