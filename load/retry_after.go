package load

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// retryWait returns how long the answer asks to wait before the next attempt,
// and whether it asks at all. retry-after-ms goes before Retry-After, as official
// clients read them; both may be fractional; Retry-After may be an HTTP date,
// which is counted from now. What is negative, not finite or absurd is ignored.
func retryWait(retryAfterMs, retryAfter string, now time.Time) (time.Duration, bool) {
	if d, ok := asWait(retryAfterMs, time.Millisecond); ok {
		return d, true
	}
	if d, ok := asWait(retryAfter, time.Second); ok {
		return d, true
	}
	when, err := http.ParseTime(strings.TrimSpace(retryAfter))
	if err != nil || when.Sub(now) > maxWait {
		return 0, false
	}
	return max(0, when.Sub(now)), true
}

// maxWait is the longest wait that is believed.
const maxWait = 24 * time.Hour

func asWait(text string, unit time.Duration) (time.Duration, bool) {
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(x) || x < 0 || x > float64(maxWait/unit) {
		return 0, false
	}
	return time.Duration(x * float64(unit)), true
}
