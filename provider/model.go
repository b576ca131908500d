package provider

import "strings"

// Model is what is known of a model.
type Model struct {
	// Name is its name; a final * stands for any rest.
	Name string
	// Output is the most tokens it gives; 0: not known.
	Output int64
	Price  Price
	// Margin is what is added to a count of input for it, in per cent; 0: what the API
	// says.
	Margin int64
}

// Options is what a configuration says of a provider.
type Options struct {
	// Output is the ceiling for the output of a call that names none; 0: OutputDefault.
	Output int64
	// Models are those of which something is known; the first whose name fits counts.
	Models []Model
}

// OutputDefault is the ceiling where nobody says one, in tokens. Nine in ten answers of
// the recorded services are shorter than a seventh of it.
const OutputDefault = 4096

// Model returns what is known of the model of that name.
func (o *Options) Model(name string) Model {
	for _, m := range o.Models {
		if prefix, any := strings.CutSuffix(m.Name, "*"); m.Name == name || any && strings.HasPrefix(name, prefix) {
			return m
		}
	}
	return Model{}
}

// Ceiling returns the most output that is reserved for one answer: the least of what
// the caller allows, what the model gives and what is configured. A ceiling of the
// caller's that is no whole number above 0 is none; what it names is the service's to
// judge.
func (o *Options) Ceiling(caller int64, m Model) int64 {
	least := o.Output
	if least <= 0 {
		least = OutputDefault
	}
	if m.Output > 0 {
		least = min(least, m.Output)
	}
	if caller > 0 {
		least = min(least, caller)
	}
	return least
}
