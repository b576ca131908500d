package copies

import "github.com/spillway-dev/spillway/policy/spread"

// State is a copy as operators see it.
type State struct {
	Name string
	spread.State
	// Connections are those that are open, idle ones included, those of checks not.
	Connections int64
	// Outcomes counts calls by what they said of the copy, by spread.Outcome.
	Outcomes [5]int64
	// Check is what the last check came to: "ok", an error, or nothing if there was none.
	Check string
}

// States returns the state of every copy, those that drain included.
func (s *Set) States() []State {
	s.mu.Lock()
	defer s.unlock()
	now := s.now()
	all := make([]State, 0, len(s.copies))
	for _, c := range s.copies {
		if c == nil {
			continue
		}
		st := State{Name: c.Name(), State: s.spread.State(now, c.id), Connections: c.open.Load(), Check: c.lastCheck()}
		for i := range st.Outcomes {
			st.Outcomes[i] = c.outcomes[i].Load()
		}
		all = append(all, st)
	}
	return all
}

// Panic reports whether copies are used because all are bad.
func (s *Set) Panic() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spread.Panic()
}

// Word says in a word or two what the copy's state is, and why.
func (s *State) Word() string {
	switch {
	case s.Draining:
		return "draining"
	case s.Weight == 0:
		return "drained"
	case s.Out && s.Ejected:
		return "ejected"
	case s.Out:
		return "unhealthy"
	case s.Ejected || s.Unhealthy:
		return "used though bad"
	case s.Part < 100:
		return "starting slowly"
	}
	return "in"
}
