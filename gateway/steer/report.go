package steer

import (
	"encoding/json"
	"net/http"
)

// document is what Report answers.
type document struct {
	Resources map[string]figures `json:"resources"`
}

type figures struct {
	OfferedPerS  float64 `json:"offered_per_s"`
	DemandSlots  float64 `json:"demand_slots"`
	DesiredSlots float64 `json:"desired_slots"`
	Ratio        float64 `json:"desired_ratio"`
	Measured     bool    `json:"measured"`
	Outage       bool    `json:"outage"`
	Weight       int     `json:"weight_percent"`
}

// Report answers with the figures of every resource.
func (b *Board) Report(w http.ResponseWriter, _ *http.Request) {
	d := document{Resources: map[string]figures{}}
	for _, t := range b.Look() {
		d.Resources[t.Resource] = figures{t.OfferedPerS, t.Demand, t.Desired, t.Ratio, t.Measured, t.Outage, t.Weight()}
	}
	write(w, d)
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.Encode(v)
}
