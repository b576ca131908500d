// Package clients holds what is promised to users of the official clients of OpenAI
// and Anthropic: that they work unchanged once their base URL is the gateway's. It is a
// module of its own: they are no dependency of Spillway's.
//
// The Go clients run here; those for Node run from node/, where npm ci installs what
// its lock file pins. What each of them does on a refusal is asserted, because it is
// what the gateway's answers are made for.
package clients
