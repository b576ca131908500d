package house

import "fmt"

// An Exception lets one file break one rule, for a reason. The list may only
// shrink: an exception that excuses nothing is itself a finding.
type Exception struct {
	Rule string // name of the rule
	File string // path relative to the module
	Why  string // why the rule is wrong here
}

// Exceptions is the ratchet.
func Exceptions() []Exception {
	return []Exception{}
}

// Excuse leaves out findings that an exception covers, and adds one for every
// exception that covers none or gives no reason.
func Excuse(found []Finding, exceptions []Exception) []Finding {
	used := make([]bool, len(exceptions))
	var left []Finding
	for _, finding := range found {
		excused := false
		for i, e := range exceptions {
			if e.Rule == finding.Rule && e.File == finding.File && e.Why != "" {
				used[i], excused = true, true
			}
		}
		if !excused {
			left = append(left, finding)
		}
	}
	for i, e := range exceptions {
		if !used[i] {
			left = append(left, Finding{"ratchet", "test/house/ratchet.go", 0,
				fmt.Sprintf("the exception of %s from %s excuses nothing, or has no reason: delete it", e.File, e.Rule)})
		}
	}
	return left
}
