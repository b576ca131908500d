package gateway

import (
	"fmt"
	"io"
	"math"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/shed"
)

// shedState is what a class's law has found, as /debug/pools shows it; {} where the
// class does not shed.
type shedState struct {
	Share        *float64 `json:"share,omitempty"`            // of what is offered, that is shed
	Gap          *float64 `json:"in_full_from_gap,omitempty"` // whatever the session; above 1: none is
	DemandPerS   *float64 `json:"demand_per_s,omitempty"`
	SustainableS *float64 `json:"sustainable_per_s,omitempty"` // 0 while not known
}

func shedOf(s *boundary.ClassState) shedState {
	l := s.Shed
	if l == nil {
		return shedState{}
	}
	share, gap := float64(l.Share)/1e6, float64(l.Gap)/float64(shed.Useless)
	return shedState{&share, &gap, &l.DemandPerS, &l.SustainablePerS}
}

func (s shedState) write(w io.Writer) {
	if s.Share == nil {
		return
	}
	fmt.Fprintf(w, "  sheds     %s %% of what is offered, %s/s of which %s/s can be served; in full from a gap of %s\n",
		number(short(100**s.Share)), number(short(*s.DemandPerS)), number(short(*s.SustainableS)), number(short(*s.Gap)))
}

func short(f float64) float64 { return math.Round(f*1e3) / 1e3 }
