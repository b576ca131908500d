package assemble

import (
	"math"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/chance"
)

// mode turns a class's mode into the policy's. 0 % is shadow and 100 % is
// enforce.
func mode(m config.Mode) boundary.Mode {
	switch m.Kind {
	case config.ModeOff:
		return boundary.Mode{Kind: boundary.Off}
	case config.ModeShadow:
		return boundary.Mode{Kind: boundary.Shadow}
	case config.ModePercent:
		return boundary.Mode{Kind: boundary.Part, Share: int(math.Round(float64(m.Percent) * chance.Whole / 100))}
	}
	return boundary.Mode{}
}
