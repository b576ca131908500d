// Package assemble turns a configuration file into the values that policy
// understands. It is the one place that knows both: gate and simulator take
// what it makes, and so run the same policy for the same file.
package assemble
