package retries

import (
	"fmt"
	"strconv"
)

// Setting is one arm: a policy at a load. Its JSON stands in the plan of the raw
// records.
type Setting struct {
	Name string `json:"-"`

	Policy   string  `json:"policy"`
	Does     string  `json:"does"`
	PerS     float64 `json:"load_per_s"`
	Rounds   int     `json:"rounds"`
	ForS     int     `json:"for_s"`
	OutageS  int     `json:"outage_s"` // when it begins
	OutForS  int     `json:"out_for_s"`
	TimeoutS int     `json:"timeout_s"` // of the clients, for each attempt

	Retries int  `json:"retries"`
	Budget  bool `json:"budget"`   // of a tenth
	Library bool `json:"library"`  // the clients use it: budget, and the deadline travels
	Obeys   bool `json:"obeys"`    // the server stops at a deadline that travels
	Front   bool `json:"spillway"` // stands before the server
}

// The server: three at once, exponential with a mean of 10 ms.
const (
	servers   = 3
	service   = "exp:10ms"
	capacityS = 300
)

// Options are what the flags say.
type Options struct {
	Rounds int
	Loads  []float64
	OutFor int // seconds
}

// Defaults are those of the paper.
func Defaults() Options {
	return Options{Rounds: 10, Loads: []float64{120, 160, 240, 280, 295}, OutFor: 10}
}

// Bounds of the options.
const (
	roundsMax, outMax = 1000, 100
	loadMax           = 10_000
)

// Validate returns what is wrong with the options, one line with the fix in it.
func (o *Options) Validate() error {
	switch {
	case o.Rounds < 1 || o.Rounds > roundsMax:
		return fmt.Errorf("%d rounds: it is from 1 to %d", o.Rounds, roundsMax)
	case o.OutFor < 0 || o.OutFor > outMax:
		return fmt.Errorf("an outage of %d s: it is from 0 to %d", o.OutFor, outMax)
	case len(o.Loads) == 0:
		return fmt.Errorf("no loads; name some, as in 160,280")
	}
	for _, l := range o.Loads {
		if !(l >= 1 && l <= loadMax) {
			return fmt.Errorf("a load of %v/s: it is from 1 to %d; the server can do %d", l, loadMax, capacityS)
		}
	}
	return nil
}

// Policies are the rows of the table.
func Policies() []Setting {
	return []Setting{
		{Policy: "retry-1", Retries: 1, Does: "clients try again once, at once; the server serves whoever is next, dead or alive"},
		{Policy: "retry-3", Retries: 3, Does: "up to three times, at once"},
		{Policy: "retry-3-budget", Retries: 3, Budget: true, Does: "retries of all clients together are at most a tenth of their requests"},
		{Policy: "library", Retries: 3, Library: true, Does: "the clients use the client library with its defaults and three retries; the server is as before"},
		{Policy: "library-deadline", Retries: 3, Library: true, Obeys: true, Does: "and the server drops what is past the deadline that came with it"},
		{Policy: "spillway", Retries: 3, Front: true, Does: "clients as in retry-3; Spillway in front of the server with a class's defaults"},
		{Policy: "default", Retries: 3, Library: true, Obeys: true, Front: true, Does: "client library, Spillway in front, the deadline travels"},
	}
}

// Arms are the cells of the table.
func (o Options) Arms() []Setting {
	var arms []Setting
	for _, p := range Policies() {
		for _, load := range o.Loads {
			p.Name = p.Policy + "-" + name(load)
			p.PerS, p.Rounds, p.OutForS = load, o.Rounds, o.OutFor
			p.OutageS, p.TimeoutS = 60, 1
			p.ForS = p.OutageS + p.OutForS + 150
			arms = append(arms, p)
		}
	}
	return arms
}

// name is a load in the name of an arm.
func name(load float64) string {
	s := []byte(strconv.FormatFloat(load, 'f', -1, 64))
	for i := range s {
		if s[i] == '.' {
			s[i] = '-'
		}
	}
	return string(s)
}
