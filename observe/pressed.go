package observe

import "github.com/spillway-dev/spillway/observe/pressure"

var (
	pressureRatio = Definition{"spillway_pressure_ratio", "gauge", []string{"signal"}, "How near the gateway itself is to what pressure allows it of a signal (cpu, memory, cpu_stall, memory_stall, scheduler): above 1 limits give way. Those that are off or not known are not there."}
	limitGivenWay = Definition{"spillway_limit_given_way_ratio", "gauge", []string{"resource"}, "The part of the upstream's limit that is given away to pressure, 0 to 0.95; spillway_limit is what is left."}
)

func (s sink) pressure(all []pressure.Signal) {
	for _, p := range all {
		if p.Known {
			s.add(&pressureRatio, p.Level, p.Name)
		}
	}
}
