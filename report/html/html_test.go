package html_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	nethtml "golang.org/x/net/html"

	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/html"
	"github.com/spillway-dev/spillway/report/internal/sample"
)

func write(t *testing.T, p *html.Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// walk parses a page and visits every node.
func walk(t *testing.T, page string, visit func(n *nethtml.Node)) {
	t.Helper()
	root, err := nethtml.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		visit(n)
	}
}

// labPage holds one section of each kind.
func labPage() *html.Page {
	return &html.Page{
		Title: "spillway lab pool", Findings: []string{"The derived bound keeps p99 at 287 ms."},
		Sections: []html.Section{
			html.Prose{Heading: "Question", Paragraphs: []string{"How large may a waiting room be?"}, Items: []string{"derived", "none"}},
			html.Bars{Heading: "p99 by arm", X: html.Axis{Name: "p99", Unit: "ms"}, Bars: []html.Bar{
				{Name: "derived", Value: 287, Low: 280, High: 291}, {Name: "none", Value: report.None(), Low: report.None(), High: report.None()}}},
			html.Lines{Heading: "Share that waited longer than x", X: html.Axis{Name: "x", Unit: "ms", Log: true}, Y: html.Axis{Name: "share", Log: true},
				At: []float64{1, 10, 100}, Lines: []html.Line{{Name: "derived", Y: []report.Number{1, 0.5, report.None()}}, {Name: "budget", Bound: true, Y: []report.Number{0.01, 0.01, 0.01}}}},
			html.Table{Heading: "Arms", Head: []string{"arm", "p99 ms"}, Rows: [][]string{{"derived", "287"}}},
		},
		Repeat: html.Repeat{Mode: "virtual", Seed: 7, Meta: report.Meta{Command: "spillway lab pool --seed 7"}},
	}
}

func pages() map[string]*html.Page {
	return map[string]*html.Page{
		"overload": html.Traffic("spillway sim", sample.Overload()),
		"calm":     html.Traffic("spillway sim", sample.Calm()),
		"many":     html.Traffic("spillway sim", sample.Many(100)),
		"nothing":  html.Traffic("spillway sim", report.NewCollector(report.Options{}).Report(report.About{})),
		"lab":      labPage(),
	}
}

func TestPageStandsAlone(t *testing.T) {
	for name, p := range pages() {
		t.Run(name, func(t *testing.T) {
			page := write(t, p)
			if strings.Contains(page, "http://") || strings.Contains(page, "https://") {
				t.Error("the page holds an address")
			}
			walk(t, page, func(n *nethtml.Node) {
				for _, a := range n.Attr {
					switch a.Key {
					case "src", "href", "xlink:href", "action", "srcset", "style":
						t.Errorf("<%s %s=%q>: the page must fetch nothing and carry no inline style", n.Data, a.Key, a.Val)
					}
					if strings.HasPrefix(a.Key, "on") {
						t.Errorf("<%s %s>: inline script", n.Data, a.Key)
					}
				}
			})
			if write(t, p) != page {
				t.Error("the same page has other bytes the second time")
			}
		})
	}
}

// The policy names the hash of exactly the script and style that are there; a
// browser runs nothing else.
func TestPolicyAdmitsOurScriptAndStyleOnly(t *testing.T) {
	var policy string
	found := map[string]string{}
	walk(t, write(t, labPage()), func(n *nethtml.Node) {
		if n.Type != nethtml.ElementNode {
			return
		}
		switch n.Data {
		case "meta":
			for _, a := range n.Attr {
				if a.Key == "content" && strings.Contains(a.Val, "default-src") {
					policy = a.Val
				}
			}
		case "script", "style":
			if found[n.Data] != "" {
				t.Errorf("a second <%s>", n.Data)
			}
			sum := sha256.Sum256([]byte(n.FirstChild.Data))
			found[n.Data] = "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		}
	})
	for _, want := range []string{"default-src 'none'", "script-src " + found["script"], "style-src " + found["style"]} {
		if !strings.Contains(policy, want) {
			t.Errorf("policy %q lacks %q", policy, want)
		}
	}
}

func TestHostileNamesRenderAsText(t *testing.T) {
	const hostile = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u202e{{.}}"
	c := report.NewCollector(report.Options{For: time.Second, Rungs: []string{"primary", hostile}})
	for _, name := range []string{hostile, "calm"} {
		tally := c.Tally(name, name)
		for i := range int64(50) {
			tally.Offered(i * 20e6)
			tally.Started(i*20e6, 0)
			tally.Done(report.Outcome{At: i * 20e6, Latency: 5e6, Rung: c.Rung(hostile), Reason: c.Reason(hostile), Started: true})
		}
	}
	r := c.Report(report.About{Mode: hostile, Warnings: []string{hostile}, Meta: report.Meta{Version: hostile, Command: hostile, ConfigDigest: hostile}})
	p := html.Traffic(hostile, r)
	p.Sections = append(p.Sections,
		html.Prose{Heading: hostile, Paragraphs: []string{hostile}, Items: []string{hostile}},
		html.Bars{Heading: hostile, Caption: hostile, X: html.Axis{Name: hostile, Unit: hostile}, Bars: []html.Bar{{Name: hostile, Value: 1, Class: hostile}}},
		html.Lines{Heading: hostile, X: html.Axis{Name: hostile}, At: []float64{1, 2}, Lines: []html.Line{{Name: hostile, Y: []report.Number{1, 2}}}})
	page := write(t, p)
	scripts := 0
	walk(t, page, func(n *nethtml.Node) {
		if n.Type != nethtml.ElementNode {
			return
		}
		switch n.Data {
		case "script":
			scripts++
		case "img":
			t.Error("a name became an element")
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "class" && strings.ContainsAny(a.Val, "<'(") {
				t.Errorf("a name became the attribute %s=%q", a.Key, a.Val)
			}
		}
	})
	if scripts != 1 {
		t.Errorf("%d scripts, want ours alone", scripts)
	}
	if strings.ContainsRune(page, '\u202e') {
		t.Error("a name can turn the text around it")
	}
	if !strings.Contains(page, "&lt;script&gt;alert(1)") {
		t.Error("the name is not shown at all")
	}
}

// Every chart comes in three widths, has its words at the edge and its table.
func TestEveryChartHasItsWordsAndItsTable(t *testing.T) {
	page := write(t, html.Traffic("spillway sim", sample.Overload()))
	for _, section := range strings.Split(page, "<section ")[1:] {
		charts := strings.Count(section, "<svg ")
		if charts != 0 && charts != 3 {
			t.Errorf("%d drawings in a section, want 3", charts)
		}
		if charts > 0 && (!strings.Contains(section, "<details>") || !strings.Contains(section, "copy as CSV")) {
			t.Errorf("a chart without its table: %.200s", section)
		}
	}
	for _, word := range []string{"served in full", "cache", "cheap_list", "static", "waiting", "refused: ours", "unknown", "- - capacity 840/s", "requests/s", "time, s"} {
		if !strings.Contains(page, ">"+word+"</text>") {
			t.Errorf("no drawing says %q", word)
		}
	}
	for _, number := range regexp.MustCompile(`(NaN|Inf)[" ,LMHV]`).FindAllString(page, -1) {
		t.Errorf("a drawing holds %q", number)
	}
	if strings.Contains(page, "</section>\n\n\n\n") {
		t.Error("an empty section")
	}
}

func TestFindingComesFirstAndRepeatLast(t *testing.T) {
	page := write(t, html.Traffic("spillway sim", sample.Overload()))
	last := -1
	for _, part := range []string{"checkout was offered 465/s", "What was offered, and what became of it", ">Queue wait<", ">Classes<", ">Reasons<", ">Tenants<", "How to repeat this", "--seed 7 --report out.html", "v0.1.0"} {
		at := strings.Index(page, part)
		if at <= last {
			t.Errorf("%q is at %d, want it after %d", part, at, last)
		}
		last = at
	}
}

func TestWriteFileIsWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	if err := labPage().WriteFile(filepath.Join(dir, "out.html")); err != nil {
		t.Fatal(err)
	}
	if err := labPage().WriteFile(filepath.Join(dir, "no", "such", "out.html")); err == nil {
		t.Error("no error for a folder that does not exist")
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 || files[0].Name() != "out.html" {
		t.Errorf("left behind: %v", files)
	}
}
