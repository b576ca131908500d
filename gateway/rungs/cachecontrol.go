package rungs

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// directives is what a Cache-Control header says, as far as it matters to a shared
// cache that answers only when the primary did not.
type directives struct {
	noStore, noCache, private, public           bool
	mustRevalidate, proxyRevalidate             bool
	maxAge, sharedMaxAge, staleIfError          time.Duration
	hasMaxAge, hasSharedMaxAge, hasStaleIfError bool
}

// secondsMost is what a time of more seconds counts as (RFC 9111 section 1.2.2), and
// what a Duration can hold.
const secondsMost = math.MaxInt32

// parseCacheControl reads all lines of the header. A directive that is there twice
// with different times counts with the shorter, and a time that makes no sense counts
// as none at all: stale at once (RFC 9111 section 4.2.1). no-cache and private with a
// list of fields count as without.
func parseCacheControl(lines []string) (d directives) {
	for _, line := range lines {
		for line != "" {
			var name, value string
			name, value, line = nextDirective(line)
			d.take(name, value)
		}
	}
	return d
}

func (d *directives) take(name, value string) {
	switch {
	case strings.EqualFold(name, "no-store"):
		d.noStore = true
	case strings.EqualFold(name, "no-cache"):
		d.noCache = true
	case strings.EqualFold(name, "private"):
		d.private = true
	case strings.EqualFold(name, "public"):
		d.public = true
	case strings.EqualFold(name, "must-revalidate"):
		d.mustRevalidate = true
	case strings.EqualFold(name, "proxy-revalidate"):
		d.proxyRevalidate = true
	case strings.EqualFold(name, "max-age"):
		shorter(&d.maxAge, &d.hasMaxAge, value)
	case strings.EqualFold(name, "s-maxage"):
		shorter(&d.sharedMaxAge, &d.hasSharedMaxAge, value)
	case strings.EqualFold(name, "stale-if-error"):
		shorter(&d.staleIfError, &d.hasStaleIfError, value)
	}
}

func shorter(to *time.Duration, has *bool, value string) {
	t, ok := deltaSeconds(value)
	if !ok {
		t = 0
	}
	if !*has || t < *to {
		*to, *has = t, true
	}
}

// deltaSeconds reads a number of seconds of any length.
func deltaSeconds(s string) (time.Duration, bool) {
	if s == "" {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n > secondsMost {
		n = secondsMost
	}
	return time.Duration(n) * time.Second, true
}

// nextDirective cuts the first directive off a line: name, name=token or
// name="quoted". A quoted text that does not end takes the rest of the line.
func nextDirective(line string) (name, value, rest string) {
	end := strings.IndexAny(line, ",=")
	if end < 0 {
		return blank(line), "", ""
	}
	name, rest = blank(line[:end]), line[end+1:]
	if line[end] == ',' {
		return name, "", rest
	}
	if text := strings.TrimLeft(rest, " \t"); strings.HasPrefix(text, `"`) {
		value, rest = quoted(text[1:])
		_, rest, _ = strings.Cut(rest, ",")
		return name, value, rest
	}
	value, rest, _ = strings.Cut(rest, ",")
	return name, blank(value), rest
}

// quoted reads a quoted text whose first quote is behind, and returns what follows.
func quoted(s string) (value, rest string) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

func blank(s string) string { return strings.Trim(s, " \t") }
