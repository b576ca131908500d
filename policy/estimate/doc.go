// Package estimate turns measurements into the two figures that admission
// needs: how long a slot is held on average ([Mean]) and how long a call takes
// in all but the worst cases ([Quantiles], held against [Recent]).
//
// They are integers throughout, take constant time and no allocation a sample,
// forget old samples at a known rate, and depend on nothing but the samples
// and their order.
package estimate
