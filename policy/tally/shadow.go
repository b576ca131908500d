package tally

import "fmt"

// Shadow is the account of requests that run whatever the policy decides. Both
// of its sides close.
type Shadow struct {
	// Would is what the policy decided of them, Real what became of them.
	// Would lacks those that the policy was not asked about.
	Would, Real Tally
}

// Add adds u's figures to s.
func (s *Shadow) Add(u *Shadow) {
	s.Would.Add(&u.Would)
	s.Real.Add(&u.Real)
}

// Happened returns what became of all requests that the policy's account t
// counts, and of those that it was not asked about.
func (s *Shadow) Happened(t *Tally) Tally {
	real := *t
	if s != nil {
		real.Sub(&s.Would)
		real.Add(&s.Real)
	}
	return real
}

// Check returns an error unless both sides close.
func (s *Shadow) Check() error {
	if err := s.Would.Check(); err != nil {
		return fmt.Errorf("what would have been: %w", err)
	}
	if err := s.Real.Check(); err != nil {
		return fmt.Errorf("what was: %w", err)
	}
	return nil
}
