package config

import "cmp"

// Explain is what is remembered of decisions, for GET /explain.
type Explain struct {
	Off      bool     `yaml:"-"`
	Remember int      `yaml:"remember" default:"4096" min:"1" max:"1000000" large:"100000" doc:"How many decisions, at about 700 bytes each. When one has to go for another it is the oldest of what there is most of."`
	Keep     Duration `yaml:"keep" min:"1s" max:"8760h" doc:"How long at most; after that they are gone, whoever asks. Default: until another needs the place."`
}

func (e *Explain) parse(_, text string) error {
	e.Off = true
	return readOff(text, "write off, or keys as in { remember: 4096, keep: 24h }")
}

func (e Explain) format() string       { return formatOff(e.Off) }
func (e Explain) hasScalar() bool      { return e.Off }
func (Explain) kind() string           { return "off" }
func (Explain) schema() map[string]any { return offSchema() }

func (e *Explain) fill() {
	if !e.Off {
		e.Remember = cmp.Or(e.Remember, 4096) // 3 MB, and minutes of what is rare
	}
}
