// Package ap says what a stand-in costs: how much worse a ranking gets when
// some of its scores are not today's.
//
// The ranking is of a shop's customers by the probability that they buy again
// within 30 days; the log of purchases is drawn (package shop) or read from a
// file (package purchases). Each request of the experiment in package fallback
// asks for one customer's score. Where an arm answered with a stand-in, three
// are put in its place in turn:
//
//	last_known  the score of the same customer a month before; of one who was
//	            not a customer then, the default
//	default     the share of buyers in training
//	none        no score: ranked below everybody
//
// [Run] does it all; [Prepare] builds the ranking once, and [Ranking.Cost] prices
// one arm.
//
// # From a log to a ranking
//
// Months are of 30 days and counted back from the end of the log's last day
// (cutoffs.go). At each cutoff every customer who has ordered before has six
// numbers (features.go): days since the last order, orders, days since the first
// order, what was spent, the mean gap between orders, orders in the last 90
// days. The older cutoffs train the model, the newer ones, at most six, are
// ranked; what is asked about a training cutoff was known before the first
// ranked one.
//
// The model (model.go) is a logistic regression on the logarithms of the six,
// their squares and products, fitted by the L-BFGS of gonum. Twenty are fitted,
// each from a start and on customers of its own seed, and their probabilities
// averaged.
//
// # From a ranking to a cost
//
// Average precision (precision.go) is the mean, over those who bought, of the
// precision at their place: the sum over places of (gain of recall) x
// precision. Customers of equal score share one place. It is computed at each
// cutoff and averaged over them.
//
// The cost is the change of that figure. Its 95 % range is a paired bootstrap
// (bootstrap.go): 1,000 times as many customers as there are drawn with
// replacement, each with all their months, the same for every arm and stand-in,
// and the change computed again. A range that holds zero is too close to call,
// and then what matters is the largest loss that it does not exclude.
//
// The same seed gives the same figures. Draws are the same on every processor;
// sums inside gonum are not promised to be, so that between kinds of processor
// the last of the six decimals may differ.
package ap
