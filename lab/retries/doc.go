// Package retries is the experiment with retries that keep an outage alive: a
// database that can do 300 requests a second stands still for ten seconds, and its
// clients try again. Which loads come back by themselves, and under which policy?
//
// It is the example of Bronson et al., "Metastable Failures in Distributed Systems"
// (HotOS 2021). With R retries and a capacity of 300/s every load above 300/(1+R) is
// lost for good once something has tipped it: what is offered then exceeds what can
// be served, and what is served is dead, for it has waited longer than anybody waits.
//
// A row of the table is a policy, a column a load; each cell is a scenario of package
// sim, played with several seeds. The clients are other people's (they hang up after a
// second and try again at once) or use the client library, which is policy/call; the
// server stands bare, or has Spillway in front of it with the defaults of a class.
package retries
