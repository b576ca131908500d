// Command spillway is overload control for services that already exist: a
// gateway, a simulator that runs the same policy from the same file, a load
// generator, the arithmetic of a configuration, and experiments.
//
// Each subcommand is one small file that parses its flags and calls the package
// that does the work. Results go to stdout, progress and warnings to stderr.
// Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 a check in the
// report did not hold.
package main
