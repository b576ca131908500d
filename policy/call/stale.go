package call

import "time"

// StaleAfter is how long a kept-alive connection must have been idle for its breaking to
// be put down to that. Services close idle connections after seconds; under load one is
// idle for milliseconds.
const StaleAfter = 500 * time.Millisecond

// Stale reports whether a connection that broke had most likely been closed before anything
// was sent on it: it had been idle for long, and nothing of an answer has come. What was
// sent may then be sent once more, at once and as the same attempt, if it is safe and has
// no body: it says nothing of the dependency, and no budget is asked. idle is 0 for a
// connection that is new.
func Stale(idle time.Duration, began bool) bool { return idle >= StaleAfter && !began }
