package call

import (
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
)

// Again reports whether what has come to this may be done again, by somebody who keeps
// it for longer than a Call lasts: a job. Harmless: doing it twice is doing it once.
func (o Outcome) Again(harmless bool) bool { return safety{keyed: harmless}.again(o) }

// Pause returns how long to wait after attempt n, from 1, for the same: never negative
// and never above Max. Decorrelated pauses are taken as if the one before had been Base.
func (b *Backoff) Pause(n int, c *chance.Source) time.Duration { return b.pause(n, b.Base, c) }
