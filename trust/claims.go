package trust

import (
	"sync/atomic"
	"time"
)

// Claim is something that a request says of itself.
type Claim uint8

// The claims.
const (
	ClaimClass Claim = iota
	ClaimTenant
	ClaimImportance
	ClaimDeadline
	ClaimAttempt
	Claims = iota
)

var claimNames = [Claims]string{"class", "tenant", "importance", "deadline", "attempt"}

// String returns the claim's label.
func (c Claim) String() string { return claimNames[c] }

// Grant is what a caller may claim.
type Grant struct {
	rules *[Claims]Sources
	who   Sources
	role  *Role
}

// Grant returns what the identity may claim.
func (a *Authority) Grant(id *Identity) Grant { return Grant{&a.cfg.Claims, id.Sources, id.Role} }

// May reports whether the caller may make the claim at all.
func (g Grant) May(c Claim) bool { return g.rules[c]&g.who != 0 }

// Role returns what bounds the caller's claims; nil for nothing.
func (g Grant) Role() *Role { return g.role }

// Importance returns what a claimed importance is worth, as an index into the
// class's levels, 0 the most important: at most the role's, and the last for who
// may not claim any. lowered is whether it is worth less than was claimed.
func (g Grant) Importance(claimed int, levels []string) (granted int, lowered bool) {
	last := max(len(levels)-1, 0)
	granted = min(max(claimed, 0), last)
	if !g.May(ClaimImportance) {
		return last, granted < last
	}
	if highest := g.role.Highest(levels); granted < highest {
		return highest, true
	}
	return granted, false
}

// Deadline returns how long a request may take that names so much, 0 if it
// names nothing, in a class whose own deadline is usual. Who may not name one
// may still ask for less than that. 0 stands for what the class says.
func (g Grant) Deadline(named, usual time.Duration) (granted time.Duration, lowered bool) {
	granted = named
	if named > usual && !g.May(ClaimDeadline) {
		granted, lowered = usual, true
	}
	if g.role == nil || g.role.Deadline <= 0 {
		return granted, lowered
	}
	switch most := g.role.Deadline; {
	case granted > most:
		return most, true
	case granted == 0 && usual > most:
		return most, false // nothing was claimed
	}
	return granted, lowered
}

// Tenant returns whose a request is that claims to be claimed's: the caller's
// own, if it may not name another.
func (g Grant) Tenant(claimed string, id *Identity) (granted string, lowered bool) {
	own := id.Account()
	switch {
	case claimed == "":
		return own, false
	case g.May(ClaimTenant):
		return claimed, false
	}
	return own, claimed != own
}

// Counts are what the authority has seen.
type Counts struct {
	// Lowered are the claims that were above what their caller may make.
	Lowered [Claims]atomic.Int64
	// Known are the requests by how their caller was known; one may be known
	// in several ways.
	Known [sourcesCount]atomic.Int64
	// Failed are the proofs that did not hold, by how and why.
	Failed [sourcesCount][Failures]atomic.Int64
	// Malformed are the headers about address and attempt that made no sense.
	Malformed atomic.Int64
}

const sourcesCount = 5

// EachKnown calls f with every source and its count, in a fixed order.
func (c *Counts) EachKnown(f func(source string, n int64)) {
	for i := range sourceNames {
		f(sourceNames[i].name, c.Known[i].Load())
	}
}

// EachFailed calls f with every way in which a proof can fail, has failed, and
// its count, in a fixed order.
func (c *Counts) EachFailed(f func(source, why string, n int64)) {
	for i := range sourceNames {
		for why := range Failures {
			if n := c.Failed[i][why].Load(); n > 0 {
				f(sourceNames[i].name, Failure(why).String(), n)
			}
		}
	}
}

// EachLowered calls f with every claim that can be lowered and its count, in a
// fixed order. An attempt is not among them: what it claims is lower already.
func (c *Counts) EachLowered(f func(claim string, n int64)) {
	for i := range ClaimAttempt {
		f(i.String(), c.Lowered[i].Load())
	}
}

// EachMalformed calls f with the count of headers that made no sense.
func (c *Counts) EachMalformed(f func(n int64)) { f(c.Malformed.Load()) }
