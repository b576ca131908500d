package lab

import (
	"errors"
	"fmt"

	"github.com/spillway-dev/spillway/report"
)

// ErrSums is in an error that says which account of an arm did not close.
var ErrSums = errors.New("the sums do not close")

// Results are what every lab's --json begins with. Arms are by name; each
// holds the figures of its lab.
type Results struct {
	Lab      string         `json:"lab"`
	Mode     string         `json:"mode"`
	Seed     uint64         `json:"seed"`
	Question string         `json:"question"`
	Findings report.Strings `json:"findings"`
	ArmOrder report.Strings `json:"arm_order"`
	// NotYet names the arms that need a later capability, and which.
	NotYet    map[string]string `json:"not_yet"`
	Verdicts  []Verdict         `json:"predictions"`
	NotTested report.Strings    `json:"not_tested"`
	// AddedAfter is what was added when results had been seen.
	AddedAfter report.Strings  `json:"added_after_results"`
	PlanSHA256 string          `json:"plan_sha256"`
	Records    map[string]Kept `json:"records"`
	report.Meta
}

// Judged counts the verdicts.
func (r *Results) Judged() (held, wrong, unknown int) {
	for _, v := range r.Verdicts {
		switch v.Verdict {
		case Held:
			held++
		case Wrong:
			wrong++
		default:
			unknown++
		}
	}
	return held, wrong, unknown
}

// Score says in words how the predictions fared.
func (r *Results) Score() string {
	held, wrong, unknown := r.Judged()
	s := fmt.Sprintf("%d of %d predictions held", held, len(r.Verdicts))
	if wrong > 0 {
		s += fmt.Sprintf("; wrong: %d", wrong)
	}
	if unknown > 0 {
		s += fmt.Sprintf("; not to be judged: %d", unknown)
	}
	return s + "."
}
