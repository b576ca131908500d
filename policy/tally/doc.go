// Package tally keeps the account that must always close: what was offered is
// what was answered, for whatever reason, plus what waits and what runs.
package tally
