package config

import "cmp"

// Shed says who is answered from the ladder when not all can be served: before anybody
// waits, whoever loses least by it.
type Shed struct {
	Off        bool     `yaml:"-"`
	Release    Rate     `yaml:"release" default:"10%/s" min:"0.1%/s" max:"100%/s" doc:"How much of what is offered comes back to full answers a second, at the most, when less is asked for. Without a ladder whoever is shed is refused."`
	Hysteresis Percent  `yaml:"hysteresis" default:"1%" min:"0.01%" max:"50%" doc:"How much of the capacity must be spare, beyond what is shed, for less to be shed."`
	Redeal     Duration `yaml:"redeal" default:"10m" min:"1s" max:"24h" doc:"In what time each session is dealt a new place among those with the same gap, one after the other, so that it is not always the same who are shed."`
	Sessions   int      `yaml:"sessions" default:"65536" min:"64" max:"16777216" doc:"For how many sessions a decision is held at once, 16 bytes each. Beyond that a session is decided by what is shed at the moment."`
}

func (s *Shed) parse(_, text string) error {
	s.Off = true
	return readOff(text, "write off, or keys as in { release: 10%/s }")
}

func (s Shed) format() string       { return formatOff(s.Off) }
func (s Shed) hasScalar() bool      { return s.Off }
func (Shed) kind() string           { return "off" }
func (Shed) schema() map[string]any { return offSchema() }

// Sheds reports whether the class, with its defaults, sheds: where it says how, and
// where it has something to give instead.
func (k *Class) Sheds() bool { return !k.Shed.Off && k.Shed != (Shed{}) }

func (s *Shed) fill(ladder bool) {
	if s.Off || !ladder && *s == (Shed{}) {
		return
	}
	s.Release = cmp.Or(s.Release, 10)
	s.Hysteresis = cmp.Or(s.Hysteresis, 1)
	s.Redeal = cmp.Or(s.Redeal, Duration(600e9))
	s.Sessions = cmp.Or(s.Sessions, 1<<16)
}
