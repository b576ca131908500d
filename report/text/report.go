package text

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spillway-dev/spillway/report"
)

// shownTenants is how many tenants a terminal shows, the busiest first; --json
// has all.
const shownTenants = 10

// Write draws a whole report: finding, river, classes, reasons, tenants,
// warnings, how to repeat it.
func Write(w io.Writer, r *report.Report, o Options) error {
	p := &page{w: w, o: o}
	p.paragraphs(r.Findings(), o.bold)
	p.river(r)
	p.table(classTable(r))
	if calls := repeatedCalls(r); calls != "" {
		p.paragraphs([]string{calls}, o.dim)
	}
	if len(r.Reasons) > 0 {
		p.table(reasonTable(r))
	}
	if r.Shadow.Seen() {
		p.table(shadowTable(r))
	}
	if len(r.Tenants) > 1 {
		p.table(tenantTable(r))
	}
	p.warnings(r)
	p.repeat(r)
	return p.err
}

// WriteFindings writes what was found, a sentence a line, where a command draws
// tables of its own.
func WriteFindings(w io.Writer, findings []string, o Options) error {
	p := &page{w: w, o: o}
	p.paragraphs(findings, o.bold)
	return p.err
}

// WriteRepeat writes a run's warnings and how it can be had again: the end of
// every report. Only these fields of r are read: Mode, Seed, Seconds, Warnings,
// Meta.
func WriteRepeat(w io.Writer, r *report.Report, o Options) error {
	p := &page{w: w, o: o}
	p.warnings(r)
	p.repeat(r)
	return p.err
}

// page writes blocks with a blank line between them and keeps the first error.
type page struct {
	w   io.Writer
	o   Options
	any bool
	err error
}

func (p *page) block(lines ...string) {
	if p.err != nil || len(lines) == 0 {
		return
	}
	text := strings.Join(lines, "\n") + "\n"
	if p.any {
		text = "\n" + text
	}
	p.any = true
	_, p.err = io.WriteString(p.w, text)
}

// paragraphs writes sentences, each on a line of its own.
func (p *page) paragraphs(sentences []string, style func(string) string) {
	var lines []string
	for _, sentence := range sentences {
		for _, line := range wrap(Clean(sentence), p.o.width()) {
			lines = append(lines, style(line))
		}
	}
	p.block(lines...)
}

func (p *page) table(t Table) {
	var b strings.Builder
	if err := WriteTable(&b, t, p.o); err != nil {
		p.err = err
		return
	}
	p.block(strings.TrimSuffix(b.String(), "\n"))
}

func (p *page) river(r *report.Report) {
	river := r.Series.Total().River(r.Rungs)
	if len(river.Bands) == 0 || river.Top == 0 {
		return
	}
	label := 0
	for _, b := range river.Bands {
		label = max(label, min(24, columns(Clean(b.Name))))
	}
	// label, space, bar, picture, bar, space, figure of up to ten columns
	n := min(72, p.o.width()-label-14)
	lines := []string{p.o.dim(fmt.Sprintf("requests/s over %s; @ is %s, mean at the right",
		seconds(river.BucketS*float64(len(river.T))), report.FormatRate(report.Number(river.Top))))}
	for _, b := range slices.Backward(river.Bands) {
		var sum float64
		for _, v := range b.PerS {
			sum += v
		}
		lines = append(lines, left(fit(Clean(b.Name), label), label)+" |"+Spark(b.PerS, n, river.Top)+"| "+
			right(report.FormatRate(report.Number(sum/float64(len(b.PerS)))), 8))
	}
	p.block(lines...)
}

func seconds(s float64) string { return report.Format(report.Number(s)) + " s" }

func classTable(r *report.Report) Table {
	t := Table{
		Head: []string{"class", "offered/s", "goodput/s", "cheaper", "refused", "failed", "p50 ms", "p99 ms", "wait p99", "used"},
	}
	for _, name := range r.ClassNames() {
		t.Rows = append(t.Rows, groupRow(name, r.Classes[name], r))
	}
	if len(t.Rows) != 1 {
		t.Rows = append(t.Rows, groupRow("all", &r.Group, r))
		t.Total = true
	}
	return t
}

func groupRow(name string, g *report.Group, r *report.Report) []string {
	refused := g.RefusedIn(report.BandCaller) + g.RefusedIn(report.BandOurs)
	failed := g.RefusedIn(report.BandFailed) + g.RefusedIn(report.BandUnknown)
	return []string{
		name, report.Format(report.PerSecond(g.Offered, float64(r.Seconds))), report.Format(g.GoodputPerS),
		report.FormatPercent(report.Share(g.Cheaper(), g.Offered)), report.FormatPercent(report.Share(refused, g.Offered)),
		report.FormatPercent(report.Share(failed, g.Offered)),
		report.Format(g.P50Ms), report.Format(g.P99Ms), report.Format(g.QueueWaitP99Ms),
		report.FormatPercent(g.Utilisation),
	}
}

func reasonTable(r *report.Report) Table {
	t := Table{Head: []string{"reason", "requests", "share", "a rung", "no answer", "meaning"}, Left: []int{5}}
	names := r.Reasons.Names()
	slices.SortStableFunc(names, func(a, b string) int { return int(min(1, max(-1, r.Reasons[b]-r.Reasons[a]))) })
	for _, name := range names {
		n, refused := r.Reasons[name], r.Refused[name]
		t.Rows = append(t.Rows, []string{name, report.FormatCount(n), report.FormatPercent(report.Share(n, r.Offered)),
			report.FormatCount(n - refused), report.FormatCount(refused), report.BandOf(name).String()})
	}
	for _, rest := range []struct {
		name string
		n    int64
	}{{"waiting", r.Waiting}, {"running", r.Running}} {
		if rest.n > 0 {
			t.Rows = append(t.Rows, []string{"(" + rest.name + ")", report.FormatCount(rest.n),
				report.FormatPercent(report.Share(rest.n, r.Offered)), "", "", "not ended when the run was"})
		}
	}
	t.Rows = append(t.Rows, []string{"offered", report.FormatCount(r.Offered)})
	t.Total = true
	return t
}

func tenantTable(r *report.Report) Table {
	t := Table{Head: []string{"tenant", "offered", "in full", "cheaper", "refused", "failed", "p50 ms", "p99 ms", "wait p99"}}
	names := r.Tenants.ByTraffic()
	for _, name := range names[:min(len(names), shownTenants)] {
		g := r.Tenants[name]
		row := groupRow(name, g, r)
		t.Rows = append(t.Rows, []string{name, report.FormatCount(g.Offered), report.FormatCount(g.InFull()),
			row[3], row[4], row[5], row[6], row[7], row[8]})
	}
	if more := len(names) - shownTenants; more > 0 {
		t.Rows = append(t.Rows, []string{fmt.Sprintf("%s more, see --json", report.FormatCount(int64(more)))})
	}
	return t
}

func (p *page) warnings(r *report.Report) {
	var lines []string
	for _, warning := range r.Warnings {
		lines = append(lines, wrap("warning: "+Clean(warning), p.o.width())...)
	}
	p.block(lines...)
}

func (p *page) repeat(r *report.Report) {
	lines := []string{p.o.dim(strings.Join(slices.DeleteFunc([]string{
		Clean(r.Mode), "seed " + strconv.FormatUint(r.Seed, 10), offeredFor(r),
		Clean(r.Version), shortDigest(r.ConfigDigest),
	}, func(s string) bool { return s == "" }), " | "))}
	if r.Command != "" {
		lines = append(lines, "repeat: "+Clean(r.Command)) // never wrapped: it is to be copied
	}
	p.block(lines...)
}

func offeredFor(r *report.Report) string {
	if !(r.Seconds > 0) {
		return ""
	}
	return seconds(float64(r.Seconds)) + " offered"
}

func shortDigest(digest string) string {
	const enough = len("sha256:") + 12
	if digest == "" {
		return ""
	}
	return "config " + Clean(digest[:min(len(digest), enough)])
}
