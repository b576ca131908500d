// Package dice is where all chance of simulator, load generator, demo and labs
// comes from: a seeded generator whose draws are the same bits on every
// processor and in WebAssembly.
//
// A run has one seed; every use of chance has a named stream of its own, so
// that drawing more of one thing changes nothing else:
//
//	arrivals := dice.New(seed, "checkout/arrivals")
//	service := dice.New(seed, "checkout/service")
//	gap := arrivals.Exp() / rate // seconds
//
// Where the same request must meet the same luck in every arm of an experiment,
// whatever the arm drew before, ask for dice that belong to the request:
//
//	d := service.At(requestNumber, attempt)
//	wait := d.LogNormal(mu, sigma)
//
// The generator is xoshiro256++ by Blackman and Vigna (2019), seeded by
// SplitMix64; Exp and Norm are 256-layer ziggurats (Marsaglia and Tsang, 2000).
// Their tables are constants of the source, and the rare slow path uses
// [github.com/spillway-dev/spillway/workload/dice/portable] instead of package
// math. It is no source of secrets.
//
// A Dice is not safe for concurrent use; no method allocates.
package dice

//go:generate go run gen.go
