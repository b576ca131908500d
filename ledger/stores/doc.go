// Package stores opens the store that a URL names, whichever kind it is.
package stores
