package report

import (
	"fmt"
	"slices"
	"strings"
)

// findingClasses is how many classes a finding speaks of; the table has the rest.
const findingClasses = 3

// Finding is [Report.Findings] in one paragraph.
func (r *Report) Finding() string { return strings.Join(r.Findings(), " ") }

// Findings says in words what the run showed, one sentence a class (the three
// with the most requests not served in full where there are more), in the order
// of the classes. What concerns fewer than one request in a thousand is left to
// the tables.
func (r *Report) Findings() []string {
	if r.Offered == 0 {
		return []string{"Nothing was offered."}
	}
	names := r.ClassNames()
	if len(names) > findingClasses {
		worst := slices.Clone(names)
		slices.SortStableFunc(worst, func(a, b string) int {
			return int(min(1, max(-1, hurt(r.Classes[b])-hurt(r.Classes[a]))))
		})
		worst = worst[:findingClasses]
		names = slices.DeleteFunc(names, func(n string) bool { return !slices.Contains(worst, n) })
	}
	var sentences []string
	for _, name := range names {
		if g := r.Classes[name]; g.Offered > 0 {
			sentences = append(sentences, sentence(name, g, r.Series[name], float64(r.Seconds)))
		}
	}
	if len(sentences) == 0 {
		sentences = append(sentences, sentence("All traffic", &r.Group, nil, float64(r.Seconds)))
	}
	return sentences
}

func hurt(g *Group) int64 { return g.Offered - g.InFull() }

func sentence(name string, g *Group, course *Series, seconds float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s was offered %s", name, FormatRate(PerSecond(g.Offered, seconds)))
	if capacity := course.meanCapacity(); capacity.Known() {
		fmt.Fprintf(&b, " against a capacity of %s", FormatRate(capacity))
	}
	if g.InFull() == g.Offered {
		fmt.Fprintf(&b, ": all were served in full, p99 %s", FormatMs(g.P99Ms))
		if late := g.late(seconds); late > 0 {
			fmt.Fprintf(&b, ", %s of them late", FormatPercent(Share(late, g.Offered)))
		}
		return b.String() + "."
	}
	var parts []string
	add := func(n int64, format string, args ...any) {
		if n*1000 >= g.Offered && n > 0 {
			parts = append(parts, FormatPercent(Share(n, g.Offered))+" "+fmt.Sprintf(format, args...))
		}
	}
	if g.InFull() == 0 {
		parts = append(parts, "none were served in full")
	} else {
		parts = append(parts, fmt.Sprintf("%s were served in full and on time (p99 %s)", FormatRate(g.GoodputPerS), FormatMs(g.P99Ms)))
	}
	add(g.Cheaper(), "got a cheaper rung")
	for _, kind := range []BandKind{BandCaller, BandOurs, BandFailed, BandUnknown} {
		verb := map[BandKind]string{BandCaller: "were refused for the caller's own limit", BandOurs: "were refused by us",
			BandFailed: "failed or expired", BandUnknown: "ended unknown"}[kind]
		add(g.RefusedIn(kind), "%s%s", verb, g.mainReason(kind))
	}
	if left := g.Waiting + g.Running; left*100 >= g.Offered {
		add(left, "had no answer at the end")
	}
	return b.String() + ": " + strings.Join(parts, ", ") + "."
}

// late counts the primary answers after their deadline, as far as the rounded
// goodput tells.
func (g *Group) late(seconds float64) int64 {
	if !g.GoodputPerS.Known() {
		return 0
	}
	return g.InFull() - int64(float64(float64(g.GoodputPerS)*seconds)+0.5)
}

// mainReason names the reason that stands for most of a band.
func (g *Group) mainReason(kind BandKind) string {
	var reasons []string
	for _, name := range g.Refused.Names() {
		if BandOf(name) == kind {
			reasons = append(reasons, name)
		}
	}
	slices.SortStableFunc(reasons, func(a, b string) int { return int(g.Refused[b] - g.Refused[a]) })
	switch len(reasons) {
	case 0:
		return ""
	case 1:
		return " (" + reasons[0] + ")"
	default:
		return " (mostly " + reasons[0] + ")"
	}
}

// meanCapacity of a course over its known buckets.
func (s *Series) meanCapacity() Number {
	if s == nil {
		return None()
	}
	var sum float64
	known := 0
	for _, c := range s.CapacityPerS {
		if c.Known() {
			sum += float64(c)
			known++
		}
	}
	if known == 0 {
		return None()
	}
	return Number(sum / float64(known))
}
