package desk

import (
	"context"
	"net/url"

	"github.com/spillway-dev/spillway/ledger"
)

// Audited is what Audit answers.
type Audited struct {
	Budgets     int `json:"budgets"`
	Calls       int `json:"calls"`
	Unknown     int `json:"unknown"`
	Jobs        int `json:"jobs"`
	UnknownJobs int `json:"unknown_jobs"`
	// Wrong is every counter that is not the sum of what it counts, in words.
	Wrong []string `json:"wrong"`
}

// Audit adds every counter up again from the rows. It reads them all.
func Audit(ctx context.Context, l *ledger.Ledger, q url.Values) (*Audited, error) {
	if err := only(q); err != nil {
		return nil, err
	}
	found, err := l.Audit(ctx)
	if err != nil {
		return nil, err
	}
	return Found(found), nil
}

// Found is what an audit has found, as Audit answers it.
func Found(found ledger.Report) *Audited {
	out := &Audited{Budgets: found.Budgets, Calls: found.Calls, Unknown: found.Unknown, Jobs: found.Jobs, UnknownJobs: found.UnknownJobs, Wrong: []string{}}
	for _, w := range found.Wrong {
		out.Wrong = append(out.Wrong, w.String())
	}
	return out
}
