package record

import "time"

// Request is one finished request. Times are 0 or more.
type Request struct {
	Arrival    time.Duration // since the start of the recording
	Wait       time.Duration // for its slot; 0 if it never had to wait, or never got one and was refused at once
	Service    time.Duration // how long it held its slot; 0 if it never got one
	Allowed    time.Duration // what its caller allowed, from Arrival; 0 if it named nothing
	Tenant     uint64        // salted hash; 0 is none
	Session    uint64        // salted hash; 0 is none
	Cost       int64         // as declared; 0 or 1 where nothing was
	Bytes      int64         // retained while it waited
	Class      int32         // index in Header.Classes
	Importance int32         // 0 is the highest
	Outcome    uint8         // index in Header.Outcomes
}

// Header says what a file holds.
type Header struct {
	Version   int       `json:"version"`
	Recording string    `json:"recording"` // the same in all files of one run
	Part      int       `json:"part"`      // of that run, from 1
	Start     time.Time `json:"start"`     // wall clock at Arrival 0
	Config    string    `json:"config"`    // fingerprint of the configuration at the start
	Program   string    `json:"program"`   // what wrote it
	// Salt tells salts apart without telling them: files of equal Salt have
	// equal hashes for equal names.
	Salt     string   `json:"salt"`
	Classes  []string `json:"classes"`
	Outcomes []string `json:"outcomes"`
	// Known are the hashes of the tenants that the configuration names, in the
	// order of their names, so that who has the configuration can tell them.
	Known []uint64 `json:"known,omitempty"`
}

// Class returns the name of a request's class.
func (h *Header) Class(q *Request) string { return at(h.Classes, int(q.Class)) }

// Outcome returns the reason of a request's answer.
func (h *Header) Outcome(q *Request) string { return at(h.Outcomes, int(q.Outcome)) }

func at(names []string, i int) string {
	if uint(i) < uint(len(names)) {
		return names[i]
	}
	return ""
}
