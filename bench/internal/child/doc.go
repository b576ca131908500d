// Package child builds and runs the processes of a comparison, each on its own,
// and reads from the kernel what they cost.
package child
