package call

import (
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
)

// pause returns how long to wait before retry number n, from 1, that follows a
// pause of so long before. It is never negative and never above Max.
func (b *Backoff) pause(n int, before time.Duration, c *chance.Source) time.Duration {
	if b.Base <= 0 || n <= 0 {
		return 0
	}
	most := b.Max
	if most <= 0 {
		most = longest
	}
	base := min(b.Base, most)
	if b.Jitter == Decorrelated {
		upper := times(max(before, base), 3, most)
		return base + time.Duration(c.Below(int64(upper-base)+1))
	}
	d := doubled(base, n-1, most)
	switch b.Jitter {
	case Full:
		return time.Duration(c.Below(int64(d) + 1))
	case Equal:
		return d - time.Duration(c.Below(int64(d)/2+1))
	}
	return d
}

// longest bounds what has no bound of its own, so that nothing overflows when
// it is added to what a server asked for: 73 years.
const longest = time.Duration(1) << 61

// doubled is d, at most so often, doubled n times.
func doubled(d time.Duration, n int, most time.Duration) time.Duration {
	if n >= 62 || d > most>>n {
		return most
	}
	return d << n
}

// times is d by n, at most so much.
func times(d time.Duration, n, most time.Duration) time.Duration {
	if d > most/n {
		return most
	}
	return d * n
}
