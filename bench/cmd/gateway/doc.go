// Command gateway is `spillway serve -c FILE` as the harnesses start it: both
// listeners on free ports, "listening ADDR" on standard output. It logs as it
// would, to nowhere.
package main
