package job

// Claim is what is said to somebody who brings an idempotency key.
type Claim uint8

// The claims.
const (
	// Free: nobody has brought it, or all who did have left nothing. It is to be done.
	Free Claim = iota
	// Conflict: it was brought with something else to do (422).
	Conflict
	// Known: it is a job that was accepted; the answer is that job, whatever its state
	// (the same 202, or the same as asking for it).
	Known
	// InProgress: the first who brought it is being served (409, come back).
	InProgress
	// Replay: the first answer is there and is given again.
	Replay
	// Lost: the first may have been done, and nobody knows (504, do not come back).
	Lost
	// Gone: it was answered, and the answer was too large to be kept (422).
	Gone
)

var claimNames = [...]string{"free", "conflict", "known", "in progress", "replay", "lost", "gone"}

// String returns the claim's name.
func (c Claim) String() string {
	if int(c) < len(claimNames) {
		return claimNames[c]
	}
	return "unknown"
}

// Claims tells what a key says whose job is there: whether what is asked is the same as
// what its job was asked, and whether the answer was kept. The fingerprint goes before
// the state.
func (j *Job) Claims(same, kept bool) Claim {
	switch {
	case j.State == Freed:
		return Free
	case !same:
		return Conflict
	case !j.Inline:
		return Known
	case j.State == Unknown:
		return Lost
	case !j.State.Final():
		return InProgress
	case kept:
		return Replay
	}
	return Gone
}
