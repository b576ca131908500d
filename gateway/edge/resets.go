package edge

import (
	"sync"
	"time"
)

// resetsWindow is over how long broken-off requests are counted.
const resetsWindow = 10 * time.Second

// resets counts the HTTP/2 requests of a connection that were broken off while
// they were worked on: rapid reset, CVE-2023-44487. net/http bounds how many
// wait to be begun; this bounds how many are begun for nothing.
type resets struct {
	mu        sync.Mutex
	began     time.Time
	requests  int
	brokenOff int
}

// over counts a request and reports whether the connection has broken off more
// than most within the window, and more than a tenth of what it asked for.
func (r *resets) over(now time.Time, brokenOff bool, most int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.began) >= resetsWindow {
		r.began, r.requests, r.brokenOff = now, 0, 0
	}
	r.requests++
	if !brokenOff {
		return false
	}
	r.brokenOff++
	return r.brokenOff > most && r.brokenOff*10 > r.requests
}
