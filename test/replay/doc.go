// Package replay holds tests of what a gateway records against what it did: the
// recording is the gateway's own account, and replayed in virtual time under the
// same configuration it comes to the same.
package replay
