// Package cluster starts a real PostgreSQL for tests: a cluster of its own in a
// folder of its own, on a socket and a port of the loopback, which ends with the
// test. Where the machine has no PostgreSQL the test is skipped, saying so.
package cluster
