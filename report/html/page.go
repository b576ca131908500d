package html

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"os"
	"strings"

	"github.com/spillway-dev/spillway/report"
)

var (
	//go:embed assets/page.tmpl
	pageTemplate string
	//go:embed assets/page.css
	pageStyle string
	//go:embed assets/page.js
	pageScript string
)

// A Page is a report for a browser.
type Page struct {
	Title    string
	Findings []string // what was found, one sentence each, largest on the page
	Warnings []string
	Sections []Section
	Repeat   Repeat
}

// Repeat says how the run can be had again.
type Repeat struct {
	Mode string // virtual or live
	Seed uint64
	report.Meta
}

// A Section is one of [Prose], [River], [Lines], [Bars] and [Table].
type Section interface {
	view(id string) sectionView
}

// Prose is a heading with paragraphs and a list: a question, the arms, the
// predictions, what was not tested.
type Prose struct {
	Heading    string
	Paragraphs []string
	Items      []string
}

// sectionView is what the template draws.
type sectionView struct {
	ID, Heading, Caption string
	Half                 bool
	Paragraphs, Items    []string
	Charts               []chartView
	Bucket               string // width of a bucket on the x axis, for the crosshair
	Table                *tableView
	Twin                 bool // the table repeats the chart and starts closed
	Note                 string
}

type chartView struct {
	Size string // s, m or l: the style sheet shows one
	SVG  template.HTML
}

func (p Prose) view(id string) sectionView {
	return sectionView{ID: id, Heading: p.Heading, Paragraphs: p.Paragraphs, Items: p.Items}
}

var pageTmpl = template.Must(template.New("page").Funcs(template.FuncMap{
	"clean":  clean,
	"script": func() template.JS { return template.JS(pageScript) },
	"style":  func() template.CSS { return template.CSS(pageStyle) },
}).Parse(pageTemplate))

// Write draws the page. Same page, same bytes.
func (p *Page) Write(w io.Writer) error {
	views := make([]sectionView, len(p.Sections))
	for i, s := range p.Sections {
		views[i] = s.view(fmt.Sprintf("s%d", i+1))
	}
	err := pageTmpl.Execute(w, map[string]any{
		"Page": p, "Sections": views,
		// Only our own style and script run, and nothing is fetched.
		"Policy": "default-src 'none'; style-src '" + hash(pageStyle) + "'; script-src '" + hash(pageScript) + "'; base-uri 'none'; form-action 'none'",
	})
	if err != nil {
		return fmt.Errorf("report page: %w", err)
	}
	return nil
}

// WriteFile draws the page into a file, whole or not at all.
func (p *Page) WriteFile(path string) (err error) {
	f, err := os.Create(path + ".part")
	if err != nil {
		return fmt.Errorf("report page: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(path + ".part") // the first error is the one to tell
		}
	}()
	if err := p.Write(f); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("report page: %w", err)
	}
	if err := os.Rename(path+".part", path); err != nil {
		return fmt.Errorf("report page: %w", err)
	}
	return nil
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// clean makes invisible characters visible: a name cannot reverse the text
// around it or hide.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if !printable(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}
