package store

import (
	"fmt"
	"time"

	"github.com/spillway-dev/spillway/workload/dice"
)

// Band is a stretch of waits, all equally likely.
type Band struct {
	Weight   int           // of Law's sum
	From, To time.Duration // To exclusive; equal to From: always From
	Frozen   bool          // what waits that long hangs, and is not merely slow
}

// Law is how long lookups hold a slot: bands with integer weights.
type Law []Band

const (
	us = time.Microsecond
	ms = time.Millisecond
)

// The three laws of lab fallback.
var (
	// Fixed waits are 2 ms.
	Fixed = Law{{1, 2 * ms, 2 * ms, false}}
	// LongTail is mostly about 2 ms, a few about 10, 20 or 40: 6.6 % above 10 ms,
	// 0.6 % above 25; p99 about 21, mean 2.9.
	LongTail = Law{
		{934, 1600 * us, 2400 * us, false}, {46, 10 * ms, 12 * ms, false},
		{14, 19500 * us, 22 * ms, false}, {6, 35 * ms, 45 * ms, false},
	}
	// Freezing is LongTail, but 1 in 100 hangs for 1 to 2 s.
	Freezing = Law{
		{934 * 99, 1600 * us, 2400 * us, false}, {46 * 99, 10 * ms, 12 * ms, false},
		{14 * 99, 19500 * us, 22 * ms, false}, {6 * 99, 35 * ms, 45 * ms, false},
		{1000, time.Second, 2 * time.Second, true},
	}
	// freeze is what a lookup of the slow customer waits, each of them.
	freeze = Law{{1, time.Second, 2 * time.Second, true}}
)

// ParseLaw returns the law that a letter stands for.
func ParseLaw(letter string) (Law, error) {
	switch letter {
	case "F":
		return Fixed, nil
	case "L":
		return LongTail, nil
	case "H":
		return Freezing, nil
	}
	return nil, fmt.Errorf("waits %q: write F (2 ms fixed), L (a long tail) or H (the tail, and 1 in 100 freezes for 1 to 2 s)", letter)
}

// draw takes two numbers from d, whatever comes of them.
func (l Law) draw(d *dice.Dice) (wait time.Duration, frozen bool) {
	sum := 0
	for i := range l {
		sum += l[i].Weight
	}
	at := d.Intn(sum)
	u := d.Uint64()
	for i := range l {
		b := &l[i]
		if at -= b.Weight; at < 0 {
			if b.To > b.From {
				return b.From + time.Duration(u%uint64(b.To-b.From)), b.Frozen
			}
			return b.From, b.Frozen
		}
	}
	panic("BUG: store: a draw beyond the sum of weights")
}

// Mean is the law's mean wait.
func (l Law) Mean() time.Duration {
	weights, sum := int64(0), int64(0)
	for _, b := range l {
		weights += int64(b.Weight)
		sum += int64(b.Weight) * int64((b.From+b.To)/2)
	}
	return time.Duration(sum / weights)
}
