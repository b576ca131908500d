// Command scoring is a prediction service that answers on time although its feature
// store now and then does not: a lookup has a limit, a second ask beside a slow first
// one, a retry out of a budget and a deadline that travels, and below all that is the
// customer's last known score. See README.md.
//
//	scoring store    the feature store, on localhost:8090
//	scoring          the service, on localhost:8080
//
// main.go is the service; store.go stands for somebody else's.
package main
