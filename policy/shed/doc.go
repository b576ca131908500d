// Package shed decides what is given up under load and who is told: so far
// whether a copy of a service that sheds should say that it is not ready, so that
// whoever spreads traffic sends it elsewhere ([Ready]).
package shed
