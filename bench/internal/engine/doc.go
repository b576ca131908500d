// Package engine is proxies without admission: the reverse proxy of the standard
// library, tuned as one would, and the gateway's own short way for plain requests.
package engine
