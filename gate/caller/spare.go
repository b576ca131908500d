package caller

// spare keeps Calls that are over for those to come. Under a lock that is held anyway
// it costs next to nothing, which a sync.Pool does not, and it is bounded by itself. The
// caller holds mu.
type spare struct {
	first *Call
	kept  int
}

// spareMax is how many are kept, of some 300 bytes each: by as many as that calls in
// flight grow more and fewer again without one being made, not as many as there are.
const spareMax = 64

func (s *spare) take() *Call {
	x := s.first
	if x == nil {
		return new(Call)
	}
	s.first, x.spare = x.spare, nil
	s.kept--
	return x
}

func (s *spare) give(x *Call) {
	x.last, x.key = nil, ""
	if s.kept == spareMax {
		return
	}
	s.first, x.spare = x, s.first
	s.kept++
}
