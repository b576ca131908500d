// Package shop draws the event log of a shop that does not exist, so that what
// a stand-in costs can be asked without anybody's data.
//
// Its customers are those of the buy-till-you-die models (Schmittlein, Morrison
// and Colombo, "Counting Your Customers", 1987; Fader, Hardie and Lee, "Counting
// Your Customers the Easy Way", 2005): each buys by chance at a rate of its own,
// of a gamma law, and is lost for good after each order with a probability of
// its own, of a beta law. Two things are added: a rate drifts a little from order
// to order, and orders differ in worth, by customer and by order (log-normal),
// and are now and then returned in part within two weeks.
//
// Nobody sees when a customer is lost: that has to be guessed from how long ago
// the last order was, which is what makes the ranking worth a model and the
// score of last month different from that of today.
//
// The same seed gives the same log, to the second and the cent, on every
// processor: all draws come from package dice.
package shop
