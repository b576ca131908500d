// Package chance is the one source of randomness that policy has: seeded,
// injected, owned by the machine that draws from it, the same numbers on every
// processor.
package chance
