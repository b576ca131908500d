// Package httpgate puts a gate in front of net/http: the answers that a refusal
// becomes on the wire ([Answer]), the same in the library and in the gateway,
// and middleware that protects a handler.
package httpgate
