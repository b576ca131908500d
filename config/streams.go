package config

import "cmp"

// Streams is what answers cost that go on for long, and how long they may.
type Streams struct {
	Most      int      `yaml:"most" min:"1" max:"1000000" large:"100000" doc:"How many answers may flow on without a slot. Default: slots."`
	PerTenant int      `yaml:"per_tenant" min:"1" max:"1000000" doc:"How many of them one tenant may have. Default: half of most, so that nobody's slow readers take it all; without a tenant key all."`
	After     Duration `yaml:"after" min:"1ms" max:"24h" doc:"An answer that has flowed for so long gives its slot back, and flows on beside the pool: for event streams and WebSockets, which cost a service a connection and no more. Default: never by time; only one whose caller reads more slowly than it comes gives its slot back."`
	Idle      Duration `yaml:"idle" min:"100ms" max:"24h" doc:"How long an answer that has begun may stand still, without a byte from the upstream or one taken by the caller, before it is cut. Default: --stream-idle, 60s."`
	Total     Duration `yaml:"total" min:"100ms" max:"720h" doc:"How long an answer may flow in all before it is cut. Default: as long as it moves."`
}

// MostOf is Most, or its default for a class with those slots.
func (s Streams) MostOf(slots Slots) int { return cmp.Or(s.Most, slots.Fixed, slots.Max) }

// streams reports limits that contradict each other.
func (k *checker) streams(d Class, at string) {
	s := d.Streams
	if most := s.MostOf(d.Slots); s.PerTenant > most {
		k.report(join(at, "per_tenant"), "lower it or raise most", "is %d, above most %d", s.PerTenant, most)
	}
	if s.Total != 0 && s.After >= s.Total {
		k.report(join(at, "after"), "make it shorter than total", "is %s, and every answer is cut after %s", s.After, s.Total)
	}
}
