package provider

import (
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/provider/scan"
)

// TokensMost is the most tokens that are believed of one call: a figure beyond it is
// none.
const TokensMost = int64(1) << 40

// Count is a figure that a provider may have said.
type Count struct {
	N    int64
	Said bool
}

// Usage is what a provider says that a call has used, so far.
type Usage struct {
	// Input is all input, with what came from a cache.
	Input Count
	// Output is all output, with what nobody saw (reasoning).
	Output Count
	// CacheRead and CacheWrite are those parts of the input that were read from a cache
	// and written to one.
	CacheRead, CacheWrite Count
}

// Most takes the larger of two figures, said or not.
func (c *Count) Most(n int64) {
	if n >= 0 && n <= TokensMost && (!c.Said || n > c.N) {
		*c = Count{n, true}
	}
}

// Raise takes a value of JSON for a figure, if it is one.
func (c *Count) Raise(value []byte) {
	if n, ok := scan.Int(value); ok {
		c.Most(n)
	}
}

// Price is what tokens cost, in millionths of a currency for a million of them.
type Price struct{ Input, Output int64 }

// of is the price of so many tokens, in millionths of the currency, rounded up.
func (p Price) of(input, output int64) int64 {
	input, output = min(max(input, 0), TokensMost), min(max(output, 0), TokensMost)
	const million = 1_000_000
	// Whole and part apart: no product of two large figures.
	part := func(n, price int64) (whole, rest int64) {
		return n / million * price, n % million * price
	}
	a, ra := part(input, min(p.Input, priceMost))
	b, rb := part(output, min(p.Output, priceMost))
	return min(a+b+(ra+rb+million-1)/million, quota.MostMax)
}

// priceMost bounds a price: a million of the currency for a million tokens.
const priceMost = int64(1e12)

// Amounts is what so many tokens of one call come to, in every unit.
func (p Price) Amounts(input, output int64) quota.Amounts {
	var a quota.Amounts
	a[quota.Requests], a[quota.Concurrent] = 1, 1
	a[quota.InputTokens], a[quota.OutputTokens] = input, output
	a[quota.Tokens] = input + output
	a[quota.Money] = p.of(input, output)
	return a
}
