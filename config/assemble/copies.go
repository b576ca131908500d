package assemble

import (
	"math"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/policy/spread"
)

// Copies returns how requests are spread over the copies of an upstream.
func Copies(u config.Upstream) spread.Config {
	return spread.Config{
		Slots:       u.Slots,
		Connections: u.Connections,
		Keep:        u.Eject.Off,
		InARow:      u.Eject.InARow,
		Share:       percent(u.Eject.Failures),
		Window:      u.Eject.Window.D(),
		For:         u.Eject.For.D(),
		AtMost:      percent(u.Eject.AtMost),
		Healthy:     u.Health.Healthy,
		Unhealthy:   u.Health.Unhealthy,
	}
}

func percent(p config.Percent) int { return int(math.Round(float64(p))) }
