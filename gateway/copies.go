package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"text/tabwriter"

	"github.com/spillway-dev/spillway/gateway/copies"
	"github.com/spillway-dev/spillway/observe"
	"github.com/spillway-dev/spillway/policy/spread"
)

// copyState is a copy as /debug/upstreams shows it.
type copyState struct {
	Upstream       string           `json:"upstream"`
	Copy           string           `json:"copy"`
	State          string           `json:"state"`
	Weight         int              `json:"weight"`
	InFlight       int              `json:"in_flight"`
	Slots          int              `json:"slots"` // 0: not known
	Connections    int64            `json:"connections"`
	PartPercent    int              `json:"part_percent"`
	EjectedTimes   int              `json:"ejected_times"`
	EjectedForLeft float64          `json:"ejected_left_ms"`
	Check          string           `json:"check"`
	Calls          map[string]int64 `json:"calls"`
}

// eachCopy calls f for every copy of every upstream in force.
func (g *Gateway) eachCopy(f func(upstream string, c *copies.State)) {
	for _, r := range g.current.Load().resources {
		for _, st := range r.upstream.set.States() {
			f(r.name, &st)
		}
	}
}

// copyMetrics is what a scrape sees of the copies.
func (g *Gateway) copyMetrics() (all []observe.Copy) {
	g.eachCopy(func(upstream string, c *copies.State) {
		all = append(all, observe.Copy{Resource: upstream, Name: c.Name, State: c.State, Connections: c.Connections, Calls: c.Outcomes})
	})
	return all
}

// upstreams shows the copies of each upstream: who is out, for how long and why.
func (g *Gateway) upstreams(w http.ResponseWriter, r *http.Request) {
	all := []copyState{}
	g.eachCopy(func(upstream string, c *copies.State) {
		st := copyState{
			Upstream: upstream, Copy: c.Name, State: c.Word(), Weight: c.Weight, InFlight: c.InFlight, Slots: c.Slots, Connections: c.Connections,
			PartPercent: c.Part, EjectedTimes: c.Times, EjectedForLeft: millis(max(c.Left, 0)), Check: observe.Printable(c.Check, checkShown),
			Calls: make(map[string]int64),
		}
		for o := spread.Answered; o <= spread.Late; o++ {
			if n := c.Outcomes[o]; n > 0 {
				st.Calls[o.String()] = n
			}
		}
		all = append(all, st)
	})
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"copies": all})
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "upstream\tcopy\tstate\tweight\tin flight\tslots\tconnections\tcalls\tcheck")
	for _, c := range all {
		slots := "-"
		if c.Slots > 0 {
			slots = fmt.Sprint(c.Slots)
		}
		state := c.State
		switch {
		case c.State == "ejected":
			state = fmt.Sprintf("ejected, %s ms left", number(c.EjectedForLeft))
		case c.State == "starting slowly":
			state = fmt.Sprintf("starting slowly, %d %%", c.PartPercent)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%s\t%d\t%s\t%s\n", c.Upstream, c.Copy, state, c.Weight, c.InFlight, slots, c.Connections,
			orDash(strings.TrimPrefix(counts(c.Calls), ", ")), orDash(c.Check))
	}
	t.Flush()
}

// checkShown is how many bytes of what a check came to are shown.
const checkShown = 200

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
