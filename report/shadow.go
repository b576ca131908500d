package report

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/spillway-dev/spillway/policy/reason"
)

// Shadow is what a class's policy decided of the requests that it was asked
// about, where that was not all carried out: what would have been, beside the
// account of what was. The zero value, of a class whose decisions are all
// carried out, is written as {}. Who measures from outside knows only what answers
// say: what was decided at admission of requests that were not obeyed. One that
// would have run or waited is served there.
type Shadow struct {
	Offered int64  `json:"offered"`
	Reasons Counts `json:"reasons"`
	// Waiting and Running are those of whom it has not decided more yet.
	Waiting int64 `json:"waiting"`
	Running int64 `json:"running"`
}

// Seen reports whether anything was in shadow.
func (s *Shadow) Seen() bool { return s.Offered > 0 }

// MarshalJSON writes the account, or {} where there is none.
func (s Shadow) MarshalJSON() ([]byte, error) {
	if !s.Seen() {
		return []byte("{}"), nil
	}
	type plain Shadow
	return json.Marshal(plain(s))
}

// Check returns an error if the sum does not close.
func (s *Shadow) Check() error {
	if sum := s.Reasons.Sum() + s.Waiting + s.Running; s.Offered != sum || s.Waiting < 0 || s.Running < 0 {
		return fmt.Errorf("shadow: offered is %d, but reasons %d + waiting %d + running %d is %d",
			s.Offered, s.Reasons.Sum(), s.Waiting, s.Running, sum)
	}
	return nil
}

// add adds u's figures to s.
func (s *Shadow) add(u *Shadow) {
	if !u.Seen() {
		return
	}
	if s.Reasons == nil {
		s.Reasons = Counts{}
	}
	s.Offered += u.Offered
	s.Waiting += u.Waiting
	s.Running += u.Running
	for name, n := range u.Reasons {
		s.Reasons[name] += n
	}
}

// Shadow adds to what the class's policy decided beside what was carried out.
func (cl *Class) Shadow(s Shadow) { cl.shadow.add(&s) }

// Would says that one request was decided with a reason, and that this was not
// carried out.
func (cl *Class) Would(why reason.Reason) {
	if cl.shadow.Reasons == nil {
		cl.shadow.Reasons = Counts{}
	}
	cl.shadow.Offered++
	cl.shadow.Reasons[why.String()]++
}

// WouldRefuse is the share of what the policy was asked about that it would have
// refused, or failed: to be held against RefusedShare. [None] where nothing was
// in shadow.
func (s *Shadow) WouldRefuse() Number {
	var n int64
	for name, count := range s.Reasons {
		if name != "served" && name != "accepted" {
			n += count
		}
	}
	return Share(n, s.Offered)
}

// ShadowRow is one reason of a class in shadow: what was, beside what would have
// been. Waiting and running, where there are any, are rows of their own, in
// parentheses.
type ShadowRow struct {
	Class, Reason   string
	Happened, Would int64
}

// ShadowRows returns the rows of all classes that had anything in shadow, in the
// order of the configuration and then by name; the last of each class is offered.
func (r *Report) ShadowRows() []ShadowRow {
	var rows []ShadowRow
	for _, class := range r.ClassNames() {
		g := r.Classes[class]
		if !g.Shadow.Seen() {
			continue
		}
		names := Counts{}
		maps.Copy(names, g.Reasons)
		maps.Copy(names, g.Shadow.Reasons)
		for _, name := range names.Names() {
			rows = append(rows, ShadowRow{class, name, g.Reasons[name], g.Shadow.Reasons[name]})
		}
		for _, rest := range []ShadowRow{{class, "(waiting)", g.Waiting, g.Shadow.Waiting}, {class, "(running)", g.Running, g.Shadow.Running}} {
			if rest.Happened+rest.Would > 0 {
				rows = append(rows, rest)
			}
		}
		rows = append(rows, ShadowRow{class, "offered", g.Offered, g.Shadow.Offered})
	}
	return rows
}
