package ledger

import "errors"

// ScanMost is how many rows a page of a list looks at.
const ScanMost = 2000

// Before returns the id before which a list goes on.
func (f *Filter) Before() string {
	if f.After == "" {
		return "\U0010ffff" // which sorts after all that names anything
	}
	return f.After
}

// Page is a page of a list that is being put together: what a store does with the rows
// that it goes through, newest first, of which its index has left out some.
type Page struct {
	Filter Filter
	Most   int // jobs, at least 1

	found  []Job
	looked int
	last   string
}

var errPageFull = errors.New("the page is full")

// Look takes a row in. Its error ends the walk.
func (p *Page) Look(j Job) error {
	p.looked++
	p.last = j.ID
	f := &p.Filter
	if (f.Class == "" || f.Class == j.Class) && (f.Tenant == "" || f.Tenant == j.Tenant) && (f.State == nil || *f.State == j.State) && (f.Inline || !j.Inline) {
		p.found = append(p.found, j)
	}
	if len(p.found) == p.Most {
		return errPageFull
	}
	return nil
}

// Found returns the page, and after which id the next begins, "" if there is none. err is
// what ended the walk.
func (p *Page) Found(err error) (found []Job, more string, _ error) {
	switch {
	case errors.Is(err, errPageFull):
		return p.found, p.last, nil
	case err != nil:
		return nil, "", err
	case p.looked == ScanMost:
		return p.found, p.last, nil
	}
	return p.found, "", nil
}
