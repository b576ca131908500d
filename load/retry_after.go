package load

import (
	"time"

	"github.com/spillway-dev/spillway/policy/call"
)

// wait returns how long the answer asks to wait before the next attempt, and
// whether it asks at all. It is read as by spillway's own clients.
func (resp *response) wait(now time.Time) (time.Duration, bool) {
	p := call.ReadPushback(func(name string) string {
		switch name {
		case "Retry-After-Ms":
			return string(resp.retryAfterMs)
		case "Retry-After":
			return string(resp.retryAfter)
		}
		return ""
	}, now)
	return p.After, p.Asked
}
