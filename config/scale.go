package config

import "cmp"

// Scale is what autoscalers and load balancers are told of how much is offered.
type Scale struct {
	Utilisation Percent  `yaml:"utilisation" default:"80%" min:"1%" doc:"How much of an upstream's slots is to be in use: the slots desired are those that what is offered would hold, divided by this."`
	Rise        Duration `yaml:"rise" default:"15s" min:"1s" max:"1h" doc:"What the demand is a mean of."`
	Fall        Duration `yaml:"fall" default:"5m" min:"1s" max:"24h" doc:"For how long a higher demand is remembered, so that a pause between two bursts gives nothing away."`
	Hold        Duration `yaml:"hold" default:"15m" min:"1s" max:"24h" doc:"How long the figure stays as it was while an upstream is in an outage, in which nothing can be measured."`
	ORCA        Switch   `yaml:"orca" default:"off" doc:"Whether answers say in Endpoint-Load-Metrics how full this gateway would be if it served all that it is offered, for Envoy's and gRPC's weighted round robin."`
	Agent       Text     `yaml:"agent" doc:"Where HAProxy's agent-check is answered: host:port, unix:/path/of/socket or fd:NAME. It tells a weight or drain to whoever connects, and takes nothing in. Default: nowhere."`
}

func (s *Scale) fill() {
	s.Utilisation = cmp.Or(s.Utilisation, Percent(80))
	s.Rise = cmp.Or(s.Rise, Duration(15e9))
	s.Fall = cmp.Or(s.Fall, Duration(300e9))
	s.Hold = cmp.Or(s.Hold, Duration(900e9))
	s.ORCA = cmp.Or(s.ORCA, Off)
}

// scale checks what the ranges do not.
func (k *checker) scale() {
	if !k.cfg.Scale.Agent.IsZero() {
		k.address(k.cfg.Scale.Agent, "scale.agent")
	}
}
