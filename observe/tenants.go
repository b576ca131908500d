package observe

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/tally"
)

// TenantsMost is how many tenants of a class have a label of their own.
const TenantsMost = 20

const (
	tenantShare    = 100 // of what the class is offered, one part in so many earns a label
	tenantLabelMax = 64  // bytes
	otherTenants   = "other"
)

// tenantCounts follows the tenants of one class from scrape to scrape. The
// counters that it makes never run backwards, although a tenant may get its
// label late and may be forgotten and remembered by the gate.
type tenantCounts struct {
	named map[string]*tenantCount
	order []*tenantCount
}

// tenantCount is a tenant with a label of its own.
type tenantCount struct {
	label           string
	lastOffered     int64 // as of the last scrape
	lastServed      int64
	offered, served int64 // since it got its label
}

// tenantSample is one tenant's line in a scrape.
type tenantSample struct {
	Label           string
	Offered, Served int64
}

// take takes in the state of a class and returns the samples, other last.
func (c *tenantCounts) take(known []boundary.TenantState, total *tally.Tally) []tenantSample {
	if c.named == nil {
		c.named = make(map[string]*tenantCount)
	}
	for i := range known {
		if t := c.named[known[i].Name]; t != nil {
			t.advance(&known[i].Tally)
		}
	}
	c.choose(known, total.Offered)
	samples := make([]tenantSample, 0, len(c.order)+1)
	other := tenantSample{otherTenants, total.Offered, total.Answered[reason.Served]}
	for _, t := range c.order {
		samples = append(samples, tenantSample{t.label, t.offered, t.served})
		other.Offered -= t.offered
		other.Served -= t.served
	}
	return append(samples, other)
}

// advance adds what has happened since the last scrape. A tally that is smaller
// than it was is of a tenant that was forgotten and has come back.
func (t *tenantCount) advance(now *tally.Tally) {
	offered, served := now.Offered, now.Answered[reason.Served]
	if offered < t.lastOffered {
		t.lastOffered, t.lastServed = 0, 0
	}
	t.offered += offered - t.lastOffered
	t.served += max(served-t.lastServed, 0)
	t.lastOffered, t.lastServed = offered, served
}

// choose gives labels that are free to the tenants that offer most.
func (c *tenantCounts) choose(known []boundary.TenantState, total int64) {
	if len(c.order) >= TenantsMost {
		return
	}
	var big []boundary.TenantState
	for _, t := range known {
		if c.named[t.Name] == nil && t.Name != "" && t.Tally.Offered*tenantShare >= total && t.Tally.Offered > 0 {
			big = append(big, t)
		}
	}
	slices.SortFunc(big, func(a, b boundary.TenantState) int {
		return cmp.Or(cmp.Compare(b.Tally.Offered, a.Tally.Offered), strings.Compare(a.Name, b.Name))
	})
	for _, t := range big[:min(len(big), TenantsMost-len(c.order))] {
		count := &tenantCount{
			label:       c.label(t.Name),
			lastOffered: t.Tally.Offered,
			lastServed:  t.Tally.Answered[reason.Served],
		}
		c.named[t.Name] = count
		c.order = append(c.order, count)
	}
}

// label returns a name fit for a label, different from all others.
func (c *tenantCounts) label(name string) string {
	label := Printable(name, tenantLabelMax)
	for n := 2; label == otherTenants || slices.ContainsFunc(c.order, func(t *tenantCount) bool { return t.label == label }); n++ {
		label = Printable(name, tenantLabelMax-4) + "~" + strconv.Itoa(n)
	}
	return label
}

// Printable returns s cut to so many bytes, with everything but printable ASCII
// escaped as in a Go string: fit for a label, a log line and a page.
func Printable(s string, most int) string {
	quoted := strconv.QuoteToASCII(s[:min(len(s), most)])
	quoted = strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
	return quoted[:min(len(quoted), most)]
}
