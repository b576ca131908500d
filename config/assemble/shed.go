package assemble

import (
	"math"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/shed"
)

// Shed is the law of a class that passed validation and has its defaults, or nil where
// it does not shed.
func Shed(c config.Class) *shed.Rule {
	if !c.Sheds() {
		return nil
	}
	rule := &shed.Rule{
		Span:       c.Session.Span.D(),
		Release:    int(math.Round(c.Shed.Release.PerSecond() * chance.Whole)),
		Hysteresis: int(math.Round(c.Shed.Hysteresis.Fraction() * chance.Whole)),
		Redeal:     c.Shed.Redeal.D(),
		Sessions:   c.Shed.Sessions,
		Seed:       chance.Key(c.Name),
	}
	if rule.Hysteresis == 0 {
		rule.Hysteresis = -1 // 0 stands for the default
	}
	return rule
}
