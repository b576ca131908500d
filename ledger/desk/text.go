package desk

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

// WriteText writes the listing for a person.
func (l *Listing) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if l.Terms.Version > 0 {
		fmt.Fprintf(t, "quotas: version %d, by %s at %s\n", l.Terms.Version, shown(l.Terms.By), clock(l.Terms.At))
	} else {
		fmt.Fprintln(t, "quotas: none")
	}
	for _, o := range l.Owners {
		fmt.Fprintf(t, "gateway: %s, seen %s\n", shown(o.Name), clock(o.Seen))
	}
	if len(l.Budgets) > 0 {
		fmt.Fprintln(t, "\nBUDGET\tLIMIT\tFREE\tHELD\tSPENT\t")
	}
	for _, b := range l.Budgets {
		note := ""
		if !b.Counts {
			note = "in no quota that counts"
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%s\n", shown(b.Name), b.Limit, b.Free, b.Held, b.Spent, note)
	}
	if l.MoreBudgets != "" {
		fmt.Fprintf(t, "more: --after-budget %s\n", quoted(l.MoreBudgets))
	}
	fmt.Fprintln(t)
	if err := t.Flush(); err != nil {
		return err
	}
	if len(l.Calls) == 0 {
		fmt.Fprintln(w, "no such calls")
	}
	if err := writeCalls(w, l.Calls); err != nil {
		return err
	}
	if l.More != "" {
		_, err := fmt.Fprintf(w, "more: --after %s\n", quoted(l.More))
		return err
	}
	return nil
}

func writeCalls(w io.Writer, calls []Call) error {
	if len(calls) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CALL\tATTEMPT\tSTATE\tTENANT\tTAKEN\tRESERVED\tOWNER\tEVIDENCE")
	for _, c := range calls {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", shown(c.ID), c.Attempt, c.State, cmp.Or(shown(c.Tenant), "-"),
			figures(c.Taken), clock(c.Reserved), shown(c.Owner), shown(c.Evidence))
	}
	return t.Flush()
}

// WriteText writes the attempts for a person.
func (s *Shown) WriteText(w io.Writer) error {
	for i := range s.Calls {
		if err := s.Calls[i].WriteText(w); err != nil {
			return err
		}
	}
	return nil
}

// WriteText writes the attempt for a person.
func (c *Call) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s attempt %d: %s\n", shown(c.ID), c.Attempt, c.State)
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(t, "  %s\t%s\n", name, text)
		}
	}
	row("tenant", shown(c.Tenant))
	row("reserved", clock(c.Reserved)+" by "+shown(c.Owner))
	row("counted with", figures(c.Taken))
	row("used", figures(c.Used))
	for _, b := range c.Budgets {
		row("charged to", fmt.Sprintf("%s: %d", shown(b.Budget), b.Charged))
	}
	row("evidence", shown(c.Evidence))
	return t.Flush()
}

// WriteText writes what was found for a person.
func (a *Audited) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "%d budgets, %d calls (%d unknown), %d jobs (%d unknown)\n", a.Budgets, a.Calls, a.Unknown, a.Jobs, a.UnknownJobs)
	for _, line := range a.Wrong {
		fmt.Fprintln(w, "wrong:", shown(line))
	}
	if len(a.Wrong) > 0 {
		return nil
	}
	_, err := fmt.Fprintln(w, "every counter is the sum of what it counts")
	return err
}

func figures(amounts map[string]int64) string {
	var all []string
	for _, unit := range slices.Sorted(maps.Keys(amounts)) {
		all = append(all, fmt.Sprintf("%s=%d", unit, amounts[unit]))
	}
	return strings.Join(all, " ")
}

func clock(at time.Time) string { return at.Format("2006-01-02 15:04:05Z") }

// shownMost is how much of a name stands in a table.
const shownMost = 200

// shown is a text from outside without what moves a terminal's cursor.
func shown(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if len(s) > shownMost {
		return strings.ToValidUTF8(s[:shownMost], "") + "..."
	}
	return s
}

// quoted is a text as a shell takes it for one word.
func quoted(s string) string { return "'" + strings.ReplaceAll(shown(s), "'", `'\''`) + "'" }
