package config

import (
	"cmp"
	"strings"
)

// Reload says when a changed file is taken over by itself.
type Reload struct {
	Watch Switch   `yaml:"watch" default:"on" doc:"Whether a change of this file, or of a file that it names with file:, is taken over by itself. SIGHUP and POST /reload work either way."`
	Every Duration `yaml:"every" default:"1s" min:"100ms" max:"1h" doc:"How often the files are read for it. A change is taken over once they were the same twice in a row."`
}

// Ready says when /readyz says no besides while it drains.
type Ready struct {
	Shedding Shedding `yaml:"shedding" default:"ignore" doc:"ignore: shedding is none of its business. A share such as 50%: it says no when that share of what was offered, over all classes, has been refused for want of our capacity for as long as for says. Where all copies of a gateway shed, all may say so: see docs/operate.md before you use it."`
	For      Duration `yaml:"for" default:"10s" min:"1s" max:"1h" doc:"How long so large a share must have been refused before it says no, and how long less than half of it before it says yes again."`
	Out      Duration `yaml:"out" default:"30s" min:"1s" max:"1h" doc:"Every copy may say no only every other time of this length, counted from a moment of its own drawn at its start, whatever it sheds: of many copies that all shed, about half are there at any moment."`
}

// Shedding is ignore, or the share of requests that must be shed; the zero
// Shedding is not written, which means ignore.
type Shedding struct {
	Ignore bool
	Share  Percent
}

func (s *Shedding) parse(tag, text string) error {
	if text == "ignore" {
		*s = Shedding{Ignore: true}
		return nil
	}
	if !strings.HasSuffix(text, "%") {
		return bad("write ignore, or a share such as 50%", "%s is neither ignore nor a share", quote(text))
	}
	if err := s.Share.parse(tag, text); err != nil {
		return err
	}
	if s.Share == 0 {
		return bad("write ignore, or a share such as 50%", "0%% is shed at any time")
	}
	return nil
}

func (s Shedding) format() string {
	if s.Ignore {
		return "ignore"
	}
	return s.Share.String()
}
func (Shedding) kind() string { return "ignore or percent" }
func (Shedding) schema() map[string]any {
	return anyOf(map[string]any{"const": "ignore"}, Percent(0).schema())
}

// Operator is what an operator's signal does to a class.
type Operator struct {
	Signal OperatorMode `yaml:"signal" default:"off" doc:"What SIGUSR1 switches the class to; another one switches it back. off: nothing."`
	For    Duration     `yaml:"for" default:"10m" min:"1s" max:"24h" doc:"For how long, if nobody switches it back."`
}

// OperatorMode is what a class can be switched to by hand.
type OperatorMode string

// The modes; OperatorOff is the default.
const (
	OperatorOff     OperatorMode = "off"     // as configured
	OperatorDegrade OperatorMode = "degrade" // the next rung down; without a ladder, a refusal
	OperatorRefuse  OperatorMode = "refuse"  // a refusal
)

func (OperatorMode) values() []string { return []string{"off", "degrade", "refuse"} }

func (r *Reload) fill() {
	r.Watch = cmp.Or(r.Watch, On)
	r.Every = cmp.Or(r.Every, Duration(1e9))
}

func (r *Ready) fill() {
	if r.Shedding == (Shedding{}) {
		r.Shedding.Ignore = true
	}
	r.For = cmp.Or(r.For, Duration(10e9)) // several looks of a balancer, which commonly asks every 5 to 10 s
	r.Out = cmp.Or(r.Out, Duration(30e9))
}

func (o *Operator) fill() {
	o.Signal = cmp.Or(o.Signal, OperatorOff)
	o.For = cmp.Or(o.For, Duration(600e9)) // nobody forgets a class for a night
}
