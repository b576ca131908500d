package config

import "cmp"

// Pressure says from where on every upstream's limit gives way because the gateway
// itself is short of something. Memory alone has a figure by default: beyond it the
// kernel ends the process, and with it everything that is under way.
type Pressure struct {
	CPU         PressureShare `yaml:"cpu" default:"off" min:"1%" doc:"Part of the control group's processor quota that may be used; off: it is not looked at. It is the group's, with whatever else runs in it. 100% is no sign of trouble where throughput is wanted."`
	Memory      PressureShare `yaml:"memory" default:"95%" min:"1%" doc:"Part of the control group's memory limit (memory.max, or memory.high) that may be used, without cached files that can be dropped; off: it is not looked at. Beyond the limit the kernel ends the process."`
	CPUStall    PressureShare `yaml:"cpu_stall" default:"off" min:"0.1%" doc:"Part of the last ten seconds in which some work of the group waited for a processor, as the kernel accounts it (PSI); where the group has no account, the machine's. off: it is not looked at."`
	MemoryStall PressureShare `yaml:"memory_stall" default:"off" min:"0.1%" doc:"Part of them in which some work waited for memory. off: it is not looked at."`
	Scheduler   PressureTime  `yaml:"scheduler" default:"off" min:"100us" max:"10s" doc:"How long 99 of 100 goroutines may wait until they run, in a second. off: it is not looked at."`
}

// PressureShare is what may be used, or off; the zero value is not written.
type PressureShare struct {
	Off   bool
	Share Percent
}

func (s *PressureShare) parse(tag, text string) error {
	if text == "off" {
		*s = PressureShare{Off: true}
		return nil
	}
	return s.Share.parse(tag, text)
}

func (s PressureShare) format() string {
	if s.Off {
		return "off"
	}
	return s.Share.String()
}

func (PressureShare) kind() string { return "percent, off" }
func (PressureShare) schema() map[string]any {
	return anyOf(offSchema(), Percent(0).schema())
}

func (s PressureShare) measure() float64 {
	if s.Off {
		return 100 // inside the bounds
	}
	return s.Share.measure()
}

// PressureTime is how long something may take, or off; the zero value is not written.
type PressureTime struct {
	Off bool
	For Duration
}

func (t *PressureTime) parse(tag, text string) error {
	if text == "off" {
		*t = PressureTime{Off: true}
		return nil
	}
	return t.For.parse(tag, text)
}

func (t PressureTime) format() string {
	if t.Off {
		return "off"
	}
	return t.For.String()
}

func (PressureTime) kind() string { return "duration, off" }
func (PressureTime) schema() map[string]any {
	return anyOf(offSchema(), Duration(0).schema())
}

func (t PressureTime) measure() float64 {
	if t.Off {
		return Duration(1e9).measure() // inside the bounds
	}
	return t.For.measure()
}

func (p *Pressure) fill() {
	p.CPU = cmp.Or(p.CPU, PressureShare{Off: true})
	p.Memory = cmp.Or(p.Memory, PressureShare{Share: 95})
	p.CPUStall = cmp.Or(p.CPUStall, PressureShare{Off: true})
	p.MemoryStall = cmp.Or(p.MemoryStall, PressureShare{Off: true})
	p.Scheduler = cmp.Or(p.Scheduler, PressureTime{Off: true})
}
