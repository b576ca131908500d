package gateway

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spillway-dev/spillway/observe"
	"github.com/spillway-dev/spillway/policy/boundary"
)

// poolsItems is how many requests of a class /debug/pools lists unless asked
// for another number (?items=N), and poolsItemsMost is the most it does.
const (
	poolsItems     = 20
	poolsItemsMost = 1000
)

// poolState is a class as /debug/pools shows it. Times are in milliseconds.
type poolState struct {
	Resource    string           `json:"resource"`
	Class       string           `json:"class"`
	Slots       slotState        `json:"slots"`
	Limit       observe.Limit    `json:"limit"` // of the resource, for all of its classes
	Room        roomState        `json:"room"`
	Measured    measuredState    `json:"measured"`
	Removed     bool             `json:"removed,omitempty"`  // by a reload: it drains, or has
	Operator    *Operation       `json:"operator,omitempty"` // what it is switched to by hand
	Override    *Override        `json:"override,omitempty"` // limits that an operator has put in the place of the file's
	Calls       callState        `json:"calls"`
	Shed        shedState        `json:"shed"`
	Gap         gapState         `json:"gap"`     // that is learned; {} where none is
	Quality     []qualityState   `json:"quality"` // what is said of answers, by rung
	Offered     int64            `json:"offered"`
	Answered    map[string]int64 `json:"answered"`
	Mode        string           `json:"mode"`
	Shadow      shadowState      `json:"shadow"` // {} where all decisions are carried out
	Requests    []requestState   `json:"requests"`
	RequestsAll int64            `json:"requests_all"`
}

type slotState struct {
	Used       int   `json:"used"`
	Guaranteed int   `json:"guaranteed"`
	Borrow     int   `json:"borrow"`
	Running    int64 `json:"running"`
	Abandoned  int64 `json:"abandoned"`
	Streams    int   `json:"streams"` // part of running, without a slot
	// IdleWhileRefusingS counts slots of the upstream that were idle and not for this
	// class, while it refused or let wait for want of one, times seconds.
	IdleWhileRefusingS float64 `json:"idle_while_refusing_s"`
}

type roomState struct {
	Waiting       int     `json:"waiting"`
	Blocked       int     `json:"blocked"`
	Bytes         int64   `json:"bytes"`
	Bound         int     `json:"bound"`
	BoundFrom     string  `json:"bound_from"`
	AllowedWaitMS float64 `json:"allowed_wait_ms"`
	OldestWaitMS  float64 `json:"oldest_wait_ms"`
}

type measuredState struct {
	HoldingMS      float64 `json:"holding_ms"`
	ServiceMS      float64 `json:"service_ms"` // what almost every call takes
	ThroughputPerS float64 `json:"throughput_per_s"`
}

type requestState struct {
	State      string  `json:"state"`
	Why        string  `json:"why"`
	Tenant     string  `json:"tenant"`
	Importance int     `json:"importance"`
	AgeMS      float64 `json:"age_ms"`
	HeldMS     float64 `json:"held_ms,omitempty"`
	LeftMS     float64 `json:"left_ms"`
	Shadow     string  `json:"shadow,omitempty"` // where it would be; of those that run whatever was decided
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// pools shows what waits and runs, how long and why.
func (g *Gateway) pools(w http.ResponseWriter, r *http.Request) {
	items := poolsItems
	if s := r.URL.Query().Get("items"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 || n > poolsItemsMost {
			http.Error(w, fmt.Sprintf("items must be a number from 0 to %d", poolsItemsMost), http.StatusBadRequest)
			return
		}
		items = n
	}
	all := []poolState{}
	for _, r := range g.current.Load().resources {
		for k, s := range r.gate.States() {
			p := g.withOperation(stateOf(r.name, &s, r.gate.Items(k, items)), &s)
			p.Calls = g.callsOf(r.name, s.Name)
			p.Gap = g.gapOf(r.name, s.Name)
			p.Quality = g.qualityOf(s.Name)
			all = append(all, p)
		}
	}
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"pools": all})
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, p := range all {
		p.write(w)
	}
}

func stateOf(resource string, s *boundary.ClassState, items []boundary.ItemState) poolState {
	p := poolState{
		Resource: resource, Class: s.Name,
		Slots: slotState{s.Used, s.Slots, s.Borrow, s.Tally.Running, s.Tally.Abandoned, s.Streams, s.IdleWhileRefusing.Seconds()},
		Limit: observe.LimitOf(&s.Limit),
		Room: roomState{
			Waiting: s.Waiting, Blocked: s.Blocked, Bytes: s.WaitingBytes,
			Bound: s.Bound, BoundFrom: s.BoundFrom,
			AllowedWaitMS: millis(s.AllowedWait), OldestWaitMS: millis(s.OldestWait),
		},
		Measured: measuredState{millis(s.Holding), millis(s.ServiceTime), s.ThroughputPerS},
		Shed:     shedOf(s),
		Offered:  s.Tally.Offered,
		Answered: countsOf(&s.Tally),
		Mode:     modeOf(s),
		Shadow:   shadowOf(s),
		Requests: make([]requestState, 0, len(items)),
	}
	for i := range items {
		p.Requests = append(p.Requests, requestOf(&items[i], s))
	}
	p.RequestsAll = s.Tally.Waiting + s.Tally.Running + s.Tally.Abandoned
	return p
}

func requestOf(it *boundary.ItemState, s *boundary.ClassState) requestState {
	return requestState{
		State: it.State, Why: whyOf(it, s),
		Tenant: observe.Printable(it.Tenant, keyMax), Importance: it.Importance,
		AgeMS: millis(it.Age), HeldMS: millis(it.Held), LeftMS: millis(it.TimeLeft), Shadow: it.Shadow,
	}
}

// whyOf says in words why a request is where it is.
func whyOf(it *boundary.ItemState, s *boundary.ClassState) string {
	if it.Shadow != "" {
		return "it runs whatever was decided: " + it.Shadow
	}
	switch it.State {
	case "waiting":
		if s.Used >= s.Slots {
			return fmt.Sprintf("all %d slots of the class are held", s.Slots)
		}
		return "all slots of the upstream are held"
	case "blocked":
		return "the waiting room is full"
	case "streaming":
		return "its answer flows without a slot"
	case "abandoned":
		return "its caller was answered or has gone, the upstream has not answered"
	}
	return "it holds a slot"
}

// write renders the pool as text.
func (p *poolState) write(w http.ResponseWriter) {
	fmt.Fprintf(w, "%s / %s%s\n", p.Resource, p.Class, p.note())
	fmt.Fprintf(w, "  slots     %d of %d held (%d running, %d abandoned), %d streams, may borrow %d\n",
		p.Slots.Used, p.Slots.Guaranteed, p.Slots.Running-int64(p.Slots.Streams), p.Slots.Abandoned, p.Slots.Streams, p.Slots.Borrow)
	fmt.Fprintf(w, "  limit     of the upstream: %s\n", p.Limit.Text())
	if s := p.Slots.IdleWhileRefusingS; s > 0 {
		fmt.Fprintf(w, "  idle      %s slot-seconds of the upstream that it might not use, while it refused or let wait\n", number(math.Round(s*1e3)/1e3))
	}
	fmt.Fprintf(w, "  waiting   %d of %d (bound from %s), %d blocked, %d bytes, oldest %s ms, allowed wait %s ms\n",
		p.Room.Waiting, p.Room.Bound, p.Room.BoundFrom, p.Room.Blocked, p.Room.Bytes, number(p.Room.OldestWaitMS), number(p.Room.AllowedWaitMS))
	fmt.Fprintf(w, "  measured  holding %s ms, service %s ms (almost every call), throughput %s/s\n",
		number(p.Measured.HoldingMS), number(p.Measured.ServiceMS), number(math.Round(p.Measured.ThroughputPerS*10)/10))
	p.Calls.write(w)
	p.Shed.write(w)
	p.Gap.write(w)
	writeQuality(w, p.Quality)
	fmt.Fprintf(w, "  offered   %d%s\n", p.Offered, counts(p.Answered))
	p.writeShadow(w)
	if len(p.Requests) > 0 {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "  state\ttenant\timportance\tage ms\theld ms\tleft ms\twhy")
		for _, q := range p.Requests {
			fmt.Fprintf(t, "  %s\t%s\t%d\t%s\t%s\t%s\t%s\n", q.State, cmp.Or(q.Tenant, "-"), q.Importance,
				number(q.AgeMS), number(q.HeldMS), number(q.LeftMS), q.Why)
		}
		t.Flush()
		if rest := p.RequestsAll - int64(len(p.Requests)); rest > 0 {
			fmt.Fprintf(w, "  and %d more\n", rest)
		}
	}
	fmt.Fprintln(w)
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func counts(m map[string]int64) string {
	var b strings.Builder
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, ", %s %d", name, m[name])
	}
	return b.String()
}
