package verify

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

type poolSettings struct {
	Seconds  float64     `json:"seconds"`
	BudgetMs float64     `json:"budget_ms"`
	Slots    int         `json:"slots"`
	Naive    bool        `json:"naive"`
	Classes  []poolClass `json:"classes"`
	Stages   []poolStage `json:"stages"`
}

type poolClass struct {
	Name      string  `json:"name"`
	Slots     int     `json:"slots"`
	Borrow    int     `json:"borrow"`
	Cheaper   bool    `json:"cheaper"`
	Bound     int     `json:"bound"`
	ServiceMs float64 `json:"service_ms"`
}

type poolStage struct {
	Name  string `json:"name"`
	Slots int    `json:"slots"`
	Bound int    `json:"bound"`
}

// attempt is what a driver saw of one request.
type attempt struct {
	row
	begun, done      int64 // of its work; -1 where there was none
	wasted           bool
	started          bool
	latency, wait    int64
	inTime, admitted bool
}

type attemptKey struct{ stream, number, attempt int64 }

func poolFigures(text json.RawMessage, seed uint64, rows []row) (figures, error) {
	var s poolSettings
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	f := figures{"seed": float64(seed), "seconds": s.Seconds}
	var attempts []*attempt
	if len(s.Stages) > 0 {
		attempts = throughStages(rows)
		f.stages(s, rows)
	} else {
		attempts = single(rows)
		f.bounds(s)
		f.pool(s, attempts)
	}
	f.callers(s, attempts)
	f.traffic(s, attempts)
	f.idle(s, attempts)
	return f, nil
}

// single joins the attempts of one pool with their work.
func single(rows []row) []*attempt {
	var list []*attempt
	byKey := map[attemptKey]*attempt{}
	for _, r := range rows {
		if r.kind != "r" {
			continue
		}
		a := &attempt{row: r, begun: -1, done: -1, started: r.flag&1 != 0}
		a.latency, a.wait = r.ended-r.arrived, r.wait()
		a.inTime = r.ended <= r.deadline
		a.admitted = a.started || r.ended > r.arrived
		list = append(list, a)
		byKey[attemptKey{r.stream, r.number, r.attempt}] = a
	}
	for _, r := range rows {
		if a := byKey[attemptKey{r.stream, r.number, r.attempt}]; r.kind == "w" && a != nil {
			a.begun, a.done, a.wasted = r.started, r.ended, r.flag&1 != 0
		}
	}
	return list
}

func (r row) wait() int64 {
	if r.flag&1 != 0 {
		return r.started - r.arrived
	}
	return r.ended - r.arrived
}

// throughStages joins the records of a task at its stages into one attempt, as
// its producer saw it.
func throughStages(rows []row) []*attempt {
	tasks := map[int64][]row{}
	var order []int64
	for _, r := range rows {
		if r.kind == "r" {
			if tasks[r.number] == nil {
				order = append(order, r.number)
			}
			tasks[r.number] = append(tasks[r.number], r)
		}
	}
	var list []*attempt
	for _, n := range order {
		way := tasks[n]
		slices.SortFunc(way, func(a, b row) int { return int(a.stream - b.stream) })
		first, last := way[0], way[len(way)-1]
		a := &attempt{row: last, begun: -1, done: -1, started: first.flag&1 != 0, latency: last.ended - first.arrived, inTime: true}
		a.class, a.arrived, a.stream = first.class, first.arrived, 0
		a.wait = first.wait()
		list = append(list, a)
	}
	return list
}

func (f figures) bounds(s poolSettings) {
	if s.Naive {
		return
	}
	for _, c := range s.Classes {
		bound := float64(c.Bound)
		if c.Bound == 0 {
			bound = max(1, math.Floor((s.BudgetMs-c.ServiceMs)*float64(c.Slots)/c.ServiceMs))
		}
		f["bounds."+c.Name] = bound
	}
}

// callers fills in how callers fared over all their attempts.
func (f figures) callers(s poolSettings, attempts []*attempt) {
	type caller struct{ stream, number int64 }
	calls := map[caller]int64{}
	var callers, answered, inBudget, allCalls, most int64
	turned := int64(math.MaxInt64)
	for _, a := range attempts {
		if a.attempt == 0 {
			callers++
		}
		if a.started {
			allCalls++
			calls[caller{a.stream, a.number}]++
		}
		switch {
		case a.reason == "served":
			answered++
			if float64(a.latency) <= s.BudgetMs*1e6 {
				inBudget++
			}
		case a.reason != "accepted":
			turned = min(turned, a.ended)
			if s.cheaper(a) {
				answered++
			}
		}
	}
	for _, n := range calls {
		most = max(most, n)
	}
	f["callers"], f["attempts"] = float64(callers), float64(len(attempts))
	f["callers_answered_share"] = float64(answered) / float64(callers)
	f["attempts_per_caller"] = float64(len(attempts)) / float64(callers)
	f["calls_per_caller"] = float64(allCalls) / float64(callers)
	f["most_calls_of_one_caller"] = float64(most)
	f["in_budget_per_s"] = float64(inBudget) / s.Seconds
	f["first_turned_away_s"] = math.NaN()
	if turned < math.MaxInt64 {
		f["first_turned_away_s"] = float64(turned) / 1e9
	}
}

// pool fills in what is asked of the pool as a whole.
func (f figures) pool(s poolSettings, attempts []*attempt) {
	var busy, wasted, waited int64
	var in, out []int64
	for _, a := range attempts {
		if a.begun >= 0 {
			busy += a.done - a.begun
			if a.wasted {
				wasted += a.done - a.begun
			}
		}
		waited += a.wait
		if a.admitted {
			in, out = append(in, a.arrived), append(out, a.arrived+a.wait)
		}
	}
	f["useful_work_share"] = float64(busy-wasted) / float64(busy)
	f["work_total_ms"], f["queue_wait_total_ms"] = float64(busy)/1e6, float64(waited)/1e6
	slices.Sort(in)
	slices.Sort(out)
	peak := int64(0)
	for _, t := range in {
		peak = max(peak, upTo(in, t)-upTo(out, t-1))
	}
	f["peak_queue"] = float64(peak)
}

// stages fills in what became of each stage.
func (f figures) stages(s poolSettings, rows []row) {
	end := int64(s.Seconds * 1e9)
	inside := func(r row) float64 { return float64(max(0, min(r.ended, end)-r.started)) }
	for i, st := range s.Stages {
		path := fmt.Sprintf("stages.%d.", i)
		slotTime := float64(st.Slots) * s.Seconds * 1e9
		var worked, held, before, offered, blocked float64
		for _, r := range rows {
			here := r.class == st.Name
			switch {
			case r.kind == "r" && here:
				offered++
				f[path+"reasons."+r.reason]++
			case r.kind == "w" && here:
				worked += inside(r)
			case r.kind == "b" && here:
				before += float64(r.ended - r.started)
				blocked++
			case r.kind == "b" && i+1 < len(s.Stages) && r.class == s.Stages[i+1].Name:
				held += inside(r)
			}
		}
		f[path+"offered"], f[path+"blocked"], f[path+"blocked_total_ms"] = offered, blocked, before/1e6
		f[path+"utilisation"], f[path+"blocked_share"] = worked/slotTime, held/slotTime
		f["bounds."+st.Name] = float64(st.Bound)
	}
	for _, name := range []string{"useful_work_share", "queue_wait_total_ms", "work_total_ms", "peak_queue"} {
		f[name] = math.NaN()
	}
}

// cheaper reports whether an attempt was answered with the fixed list of its class,
// which whoever is there gets that is not served.
func (s *poolSettings) cheaper(a *attempt) bool {
	return a.reason != "served" && a.reason != "caller_gone" &&
		slices.ContainsFunc(s.Classes, func(c poolClass) bool { return c.Name == a.class && c.Cheaper })
}
