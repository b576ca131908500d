package trace

import (
	"fmt"
	"strings"
	"time"
)

// Stats says what a Reader has met so far.
type Stats struct {
	Rows    int64         // usable lines, those left out by "only" included
	Left    int64         // lines left out by "only"
	Other   int64         // lines of an access log that are no request: comments, messages
	Nobodys int64         // usable lines left out because no class takes them
	Lost    int64         // requests that a recording says it had to leave out
	Damaged int64         // lines, or places of a recording, that could not be used
	First   []Damage      // the first few of them
	Late    int64         // lines that came too late to be put into order, offered at once
	Start   time.Time     // of the first arrival (of the first window, in a trace of counts); zero if the trace has no dates
	Span    time.Duration // from the first arrival to the last one so far, as recorded: before speed and scale

	blocks bool // it is a recording: Damage.Line is an offset
}

// Damage is one line that could not be used.
type Damage struct {
	Line   int64 // its number; of a recording, where in the file it is, in bytes
	Reason string
}

// keptDamages is how many damaged lines Stats names.
const keptDamages = 5

// String says in one line what is missing, and why; empty if nothing is.
func (s Stats) String() string {
	var parts []string
	if s.Damaged > 0 {
		text, place := fmt.Sprintf("%d damaged lines of %d", s.Damaged, s.Damaged+s.Rows), "line"
		if s.blocks {
			text, place = fmt.Sprintf("%d damaged places", s.Damaged), "byte"
		}
		for i, d := range s.First {
			text += fmt.Sprintf("%s %s %d: %s", []string{":", ";"}[min(i, 1)], place, d.Line, d.Reason)
		}
		parts = append(parts, text)
	}
	if s.Nobodys > 0 {
		parts = append(parts, fmt.Sprintf("%d requests of %d are left out: no class takes them", s.Nobodys, s.Rows))
	}
	if s.Lost > 0 {
		parts = append(parts, fmt.Sprintf("%d requests are missing: the recorder or its disk did not keep up", s.Lost))
	}
	if s.Late > 0 {
		parts = append(parts, fmt.Sprintf("%d came too late to be put into order and are offered at once", s.Late))
	}
	return strings.Join(parts, "; ")
}
