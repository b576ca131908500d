package live

import (
	"encoding/json"
	"fmt"
)

// answer is what stands in the body of an answer: the list, or what was scored.
type answer struct {
	List     bool   `json:"list,omitempty"`
	Question uint64 `json:"question,omitempty"`
	Number   int64  `json:"number"` // of the keystroke that it was scored for
}

// listed is the list's body.
func listed() string {
	text, _ := json.Marshal(answer{List: true, Number: -1}) // has no way to fail
	return string(text)
}

// The rungs that a gateway of this lab has, by the names that it gives them.
const (
	rungPrimary = "primary"
	rungCache   = "cache"
	rungList    = "static"
)

// fault says what is wrong with an answer to keystroke number n: the scorer's must be
// that of this keystroke, a kept one that of an earlier one that asked the same, the list
// the list.
func (s *Stroke) fault(n int64, rung string, body []byte) string {
	if rung == "" {
		return "" // a refusal, or nothing
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return fmt.Sprintf("rung %s answered %.80q", rung, body)
	}
	is := rung
	if s.Listed && rung == rungPrimary {
		is = rungList
	}
	right := false
	switch is {
	case rungPrimary:
		right = !a.List && a.Question == s.Key && a.Number == n
	case rungCache:
		right = !a.List && s.Key != 0 && a.Question == s.Key && a.Number < n
	case rungList:
		right = a.List
	}
	if !right {
		return fmt.Sprintf("rung %s answered %s; asked was question %d", rung, body, s.Key)
	}
	return ""
}
