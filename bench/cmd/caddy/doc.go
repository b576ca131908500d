// Command caddy is caddy v2 as its authors build it, with its standard modules:
// a peer of the gateway, pinned in go.mod so that every run measures the same.
package main
