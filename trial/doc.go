// Package trial tries a configuration file in virtual time: it puts the file's
// machines, the modelled services behind them and the load they are to meet
// into one simulator scenario. The command sim, the demo's prediction and the
// labs all try a file this way, so that they mean the same by it.
package trial
