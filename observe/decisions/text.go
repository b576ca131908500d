package decisions

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/observe"
	"github.com/spillway-dev/spillway/policy/limit"
)

// Text tells the decision in words, for a terminal: what was decided, what the
// request met, by what rule, and what would have let it through.
func (d *Decision) Text() string {
	var b strings.Builder
	line := func(label, format string, a ...any) { fmt.Fprintf(&b, "  %-10s%s\n", label, fmt.Sprintf(format, a...)) }
	fmt.Fprintf(&b, "%s %s%s, class %s, request %s\n", d.Time.Format("2006-01-02 15:04:05.000"), d.what(), shadowed(d.Shadow), shown(d.Class), shown(d.ID))
	line("why", "%s", d.rule())
	if d.State.SlotsMost > 0 {
		line("slots", "%s", d.slots())
		if l := d.State.Limit; l.Law != limit.Constant.String() || l.GivenWay > 0 {
			line("limit", "of upstream %s %s", d.Resource, l.Text())
		}
		line("room", "%s", d.room())
	}
	if d.Tenant != "" || d.State.TenantMost > 0 {
		line("tenant", "%s", d.tenant())
	}
	if d.State.SlotsMost > 0 {
		line("time", "%s", d.timing())
	}
	if d.Timing.RetryAfterMS > 0 {
		line("told", "to come back after %s", ms(d.Timing.RetryAfterMS))
	}
	label := "instead"
	for _, s := range d.instead() {
		line(label, "%s", s)
		label = ""
	}
	return b.String()
}

func shadowed(yes bool) string {
	if yes {
		return " in shadow, and served"
	}
	return ""
}

func shown(s string) string {
	if s == "" {
		return "-"
	}
	return observe.Printable(s, idMax)
}

func (d *Decision) what() string {
	switch d.Stage {
	case "room":
		return "turned out: " + d.Reason
	case "running":
		return "too late: " + d.Reason
	}
	return "refused: " + d.Reason
}

// rules says for each reason which rule made it.
var rules = map[string]string{
	"shed_for_load": "not all could be served, and it loses least by less",
	"queue_full":    "all slots were held and the waiting room was full",
	"queue_bytes":   "all slots were held and what waits retained all the memory it may",
	"tenant_full":   "as many of its tenant's requests waited as may wait at once",
	"infeasible":    "what was left of its deadline was less than waiting and serving take",
	"expired":       "its deadline passed before it was served",
	"evicted":       "it gave way to another one",
	"timeout":       "it ran, and there was no answer before its deadline",
	"dropped":       "what finds no place is thrown away",
	"draining":      "nothing new is taken in any more",
	"operator":      "the class was switched by hand",
	"rate_limited":  "its client asked more than its limit allows",
	"failed":        "the upstream could not be reached or broke off",
}

func (d *Decision) rule() string {
	rule, ok := rules[d.Reason]
	if !ok {
		rule = d.Reason
	}
	switch {
	case d.Reason == "dropped" && d.Room != "":
		rule += ": " + rules[d.Room]
	case d.Retry && d.Room == "queue_full" && d.State.Waiting < d.State.Bound:
		rule = "all slots were held, and half of the waiting room is kept for first tries"
	case d.Reason == "expired" && d.Stage == "room" && d.Timing.LeftMS > 0:
		rule = "at its turn less was left of its deadline than serving takes"
	}
	return rule
}

func (d *Decision) slots() string {
	s := fmt.Sprintf("%d held of the class's %d", d.State.SlotsUsed, d.State.Slots)
	if d.State.SlotsMost > d.State.Slots {
		s += fmt.Sprintf(" (up to %d with borrowed ones)", d.State.SlotsMost)
	}
	if d.State.AllSlots != d.State.Slots {
		s += fmt.Sprintf("; %d of %d of upstream %s", d.State.AllUsed, d.State.AllSlots, d.Resource)
	}
	return s
}

func (d *Decision) room() string {
	s := fmt.Sprintf("%d waiting where %d may (bound from %s)", d.State.Waiting, d.State.Bound, d.State.BoundFrom)
	if d.State.Blocked > 0 {
		s += fmt.Sprintf(", %d blocked before it", d.State.Blocked)
	}
	if d.State.RoomBytesMax > 0 {
		s += fmt.Sprintf("; %s of %s, this one %s", size(d.State.RoomBytes), size(d.State.RoomBytesMax), size(d.Bytes))
	}
	return s
}

func (d *Decision) tenant() string {
	if d.State.SlotsMost == 0 {
		return shown(d.Tenant)
	}
	s := fmt.Sprintf("%s: %d waiting", shown(d.Tenant), d.State.TenantWaiting)
	if d.State.TenantMost > 0 {
		s += fmt.Sprintf(" where %d may", d.State.TenantMost)
	}
	return s + fmt.Sprintf(", weight %d", d.State.TenantWeight)
}

// gap is the request's.
func (d *Decision) gap() string {
	if d.State.Shed == nil {
		return "none"
	}
	return strconv.FormatFloat(round3(d.State.Shed.Gap), 'f', -1, 64)
}

func (d *Decision) timing() string {
	t := &d.Timing
	needs := "serving takes an unknown time yet"
	if t.NeededMS > 0 {
		needs = "serving takes " + ms(t.NeededMS)
	}
	left := ms(t.LeftMS) + " left"
	if t.LeftMS <= 0 {
		left = "nothing left"
	}
	switch d.Stage {
	case "room":
		return fmt.Sprintf("waited %s, was to wait %s or more; %s of its deadline, %s", ms(t.WaitedMS), ms(t.PredictedMS), left, needs)
	case "running":
		return fmt.Sprintf("waited %s, then ran for %s; almost every call takes %s", ms(t.WaitedMS), ms(t.HeldMS), orUnknown(t.NeededMS))
	}
	return fmt.Sprintf("%s of its deadline; it would have waited %s or more, %s", left, ms(t.PredictedMS), needs)
}

func orUnknown(v float64) string {
	if v <= 0 {
		return "an unknown time yet"
	}
	return ms(v)
}

// instead says what would have let it through, one figure a line.
func (d *Decision) instead() (all []string) {
	in := &d.Instead
	add := func(yes bool, format string, a ...any) {
		if yes {
			all = append(all, fmt.Sprintf(format, a...))
		}
	}
	about := ""
	if d.Stage != "offer" {
		about = " or so"
	}
	add(in.Slots > 0, "slots: %d, where it has %d", in.Slots, d.State.Slots)
	add(in.Min > 0, "slots.min: %d, whatever the upstream bears, where it is guaranteed %d now", in.Min, d.State.Slots)
	add(in.Gap > 0, "a gap of %s, where it has %s", strconv.FormatFloat(round3(in.Gap), 'f', -1, 64), d.gap())
	add(in.Bound > 0, "a waiting room for %d", in.Bound)
	add(in.MemoryLimit > 0, "memory.limit: %s", size(in.MemoryLimit))
	add(in.TenantQueue > 0, "tenant.queue: %d", in.TenantQueue)
	add(in.Weight > 0, "tenant.weights: %d for this tenant, about and in the long run", in.Weight)
	add(in.FirstTry, "as a first try, not as a retry")
	over := ""
	if d.Timing.DeadlineMaxMS > 0 && in.DeadlineMS > d.Timing.DeadlineMaxMS {
		over = fmt.Sprintf(" (max_deadline is %s)", ms(d.Timing.DeadlineMaxMS))
	}
	add(in.DeadlineMS > 0, "a deadline of %s%s%s", ms(enough(in.DeadlineMS)), about, over)
	if d.Reason == "rate_limited" {
		return []string{"a higher limit of its client (clients), or to ask when it was told"}
	}
	if len(all) == 0 {
		return []string{"no figure of the configuration alone would have changed it"}
	}
	if len(all) > 1 {
		all[0] += "; or"
		for i := 1; i < len(all)-1; i++ {
			all[i] += "; or"
		}
	}
	return all
}

// ms returns milliseconds with a unit that suits them, three digits.
func ms(v float64) string {
	d := time.Duration(v * float64(time.Millisecond))
	switch {
	case d < time.Second:
		return strconv.FormatFloat(round3(v), 'f', -1, 64) + " ms"
	default:
		return strconv.FormatFloat(round3(d.Seconds()), 'f', -1, 64) + " s"
	}
}

// enough returns v rounded up to three digits, so that what is said would do.
func enough(v float64) float64 {
	r := round3(v)
	if r < v {
		r = round3(r * 1.0051)
	}
	return r
}

func round3(v float64) float64 {
	s := strconv.FormatFloat(v, 'g', 3, 64)
	r, _ := strconv.ParseFloat(s, 64) // it was written just now
	return r
}

func size(n int64) string {
	for _, u := range []struct {
		name string
		of   int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= u.of {
			return strconv.FormatFloat(round3(float64(n)/float64(u.of)), 'f', -1, 64) + " " + u.name
		}
	}
	return strconv.FormatInt(n, 10) + " B"
}
