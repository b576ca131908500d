package assemble

import (
	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/policy/scale"
)

// Scale returns how the figure for autoscalers is made.
func Scale(s config.Scale) scale.Config {
	return scale.Config{Utilisation: s.Utilisation.Fraction(), Rise: s.Rise.D(), Fall: s.Fall.D(), Hold: s.Hold.D()}
}
