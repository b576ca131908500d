package lab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/report/html"
)

// Open returns a recorder for dir, or nil, which keeps nothing, where dir is
// empty.
func Open(dir string, plan Plan) (*Recorder, error) {
	for i := range plan.Predictions {
		if err := plan.Predictions[i].Validate(); err != nil {
			return nil, err
		}
	}
	if dir == "" {
		return nil, nil
	}
	return NewRecorder(dir, plan)
}

// Page returns the page that every lab has: question, arms, predictions, then
// the lab's own pictures and tables, and what was not tested.
func Page(r *Results, title string, arms html.Prose, sections ...html.Section) *html.Page {
	p := &html.Page{Title: title, Findings: r.Findings, Repeat: html.Repeat{Mode: r.Mode, Seed: r.Seed, Meta: r.Meta}}
	p.Sections = append(p.Sections,
		html.Prose{Heading: "Question", Paragraphs: []string{r.Question}}, arms, predictions(r))
	p.Sections = append(p.Sections, sections...)
	p.Sections = append(p.Sections, notYet(r),
		html.Prose{Heading: "What was not tested", Items: r.NotTested},
		added(r))
	return p
}

// predictions are a list, not a table: the words are what is to be read.
func predictions(r *Results) html.Section {
	p := html.Prose{Heading: "Predictions", Paragraphs: []string{"Written before the first round. " + r.Score()}}
	for i := range r.Verdicts {
		p.Items = append(p.Items, r.Verdicts[i].line())
	}
	return p
}

func (v *Verdict) line() string {
	return fmt.Sprintf("%s. %s: %s (%s %s; measured %s)",
		v.Verdict, v.Arm, v.Says, strings.Join(v.Figures, ", "), v.expected(), formatAll(v.Measured))
}

func (p *Prediction) expected() string {
	s := string(p.Is) + " " + formatAll(p.Values)
	if p.Than != "" {
		s += " times that of " + p.Than
	}
	return s
}

func formatAll(numbers []report.Number) string {
	words := make([]string, len(numbers))
	for i, n := range numbers {
		words[i] = report.Format(n)
	}
	return strings.Join(words, ", ")
}

func notYet(r *Results) html.Section {
	p := html.Prose{Heading: "Not yet"}
	for _, name := range sortedNames(r.NotYet) {
		p.Items = append(p.Items, fmt.Sprintf("%s: %s", name, r.NotYet[name]))
	}
	if len(p.Items) == 0 {
		p.Paragraphs = []string{"Every arm of this experiment exists."}
	}
	return p
}

func added(r *Results) html.Section {
	p := html.Prose{Heading: "Added after the results were seen", Items: r.AddedAfter}
	if len(p.Items) == 0 {
		p.Paragraphs = []string{"Nothing."}
	}
	return p
}

func sortedNames(m map[string]string) []string {
	names := make([]string, 0, len(m))
	for name := range m { // order does not matter: they are sorted
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// ScoreOf says how many of the predictions about an arm held: 2/2, with a
// mark where one was wrong.
func ScoreOf(verdicts []Verdict, arm string) string {
	n, held, wrong := 0, 0, 0
	for i := range verdicts {
		if verdicts[i].Arm != arm {
			continue
		}
		n++
		switch verdicts[i].Verdict {
		case Held:
			held++
		case Wrong:
			wrong++
		}
	}
	if n == 0 {
		return "-"
	}
	score := fmt.Sprintf("%d/%d", held, n)
	if wrong > 0 {
		score += "!"
	}
	return score
}
