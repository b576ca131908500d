// Package shadow holds a live gateway in shadow against the simulator: what the
// one counted is what the other says of the recorded hour.
package shadow
