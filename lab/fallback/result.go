package fallback

import (
	"github.com/spillway-dev/spillway/lab"
	"github.com/spillway-dev/spillway/policy/plan"
	"github.com/spillway-dev/spillway/report"
)

// Result is one arm.
type Result struct {
	Does    string  `json:"does"`
	Rounds  []Round `json:"rounds"`
	Median  Round   `json:"median"`
	Tipping Tipping `json:"tipping"`
	// Reasons are of the requests of all rounds.
	Reasons report.Counts `json:"reasons"`
	// Warnings say which figures are not to be relied on, and why.
	Warnings report.Strings `json:"warnings"`
}

// Document is what --json prints.
type Document struct {
	lab.Results
	Arms map[string]*Result `json:"arms"`
	// Tipping is of every arm at 450/s or of one's own.
	Tipping     map[string]Tipping `json:"tipping"`
	Comparisons []Comparison       `json:"comparisons"`
	Ranking     []Defence          `json:"ranking"`
	// Timeline is a round second by second: TimelineRound, counted from 1, the first
	// that tipped if TimelineTipped.
	Timeline       map[string][]Second `json:"timeline"`
	TimelineRound  int                 `json:"timeline_round"`
	TimelineTipped bool                `json:"timeline_tipped"`
	Frozen         *Followed           `json:"frozen"`
	// Plan is what policy/plan says of the store, in words and figures.
	Plan []plan.Figure `json:"plan"`

	Priced
	Lived

	options  Options
	settings []Setting
	recorder *lab.Recorder
}

// setting returns the arm of that name if it is played.
func (d *Document) setting(name string) *Setting {
	for i := range d.settings {
		if d.settings[i].Name == name {
			return &d.settings[i]
		}
	}
	return nil
}

// Question is what the experiment asks.
const Question = "What should a service answer when its dependency is slow, and how often may it ask again before asking is what makes it slow?"

// NotTested is what the experiment says nothing about.
var NotTested = report.Strings{
	"processors, networks and clocks: in virtual time nothing else is busy",
	notPriced,
	"a store that loses lookups, answers wrongly or fails at once",
	"a store that notices that its caller has hung up",
	"several services that share the store, each with a budget of its own",
	"rates that change, and more than one round of bad luck after another",
}

// AddedAfter is what was added or changed when results had been seen.
var AddedAfter = report.Strings{
	"H4-hedge-always: that H4-hedge tips was predicted and is wrong, since policy/call sends no second ask while a large share of first ones are slow; this arm has that rule off",
	"every defence on: it had no deadline at first, obeyed each Retry-After of the store and answered up to 1.4 s late; it now has one of 77 ms, three tries and 2 ms kept back",
}
