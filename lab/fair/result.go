package fair

import (
	"maps"
	"slices"

	"github.com/spillway-dev/spillway/report"
)

// Result is one arm's figures. Objects are by tenant; where there are more
// than shownTenants, they hold the sum of all instead, under "all".
type Result struct {
	Policy      string         `json:"policy"`
	Weights     map[string]int `json:"weights"`
	Slots       int            `json:"slots"`
	DeadlineS   report.Number  `json:"deadline_s"`
	RetryCopies int            `json:"retry_copies"`
	Tenants     int            `json:"tenants"` // who offered anything

	Offered    report.Counts `json:"offered"`
	Recognised report.Counts `json:"recognised"` // retries known by their key, not offered again
	Rejected   report.Counts `json:"rejected"`
	Completed  report.Counts `json:"completed"`
	Expired    report.Counts `json:"expired"`
	// CompletedCost is the cost of what was completed.
	CompletedCost  report.Counts `json:"completed_cost"`
	CompletedLeast int64         `json:"completed_least"`
	CompletedMost  int64         `json:"completed_most"`

	// PeakQueue is the most that waited at once; who arrives at an instant is
	// counted before anybody starts at it.
	PeakQueue int64 `json:"peak_queue"`
	// QueueHistory is how many wait after each second's service and deadline
	// sweep, before the next second's.
	QueueHistory []int64 `json:"queue_history"`

	NormalisedShare Shares `json:"normalised_share"`
	// Jain is Jain's index of the normalised shares, by count and by cost: 1
	// where all are equal, 1/n where one has everything.
	Jain       report.Number `json:"jain"`
	JainByCost report.Number `json:"jain_by_cost"`
	// WorstLag is the most, in requests and in cost, by which a tenant that
	// still waits was behind a fluid scheduler that shares every instant's
	// service by weight among those who wait.
	WorstLag       report.Number `json:"worst_lag"`
	WorstLagByCost report.Number `json:"worst_lag_by_cost"`

	// QueueWaitTotalMs is the sum of all waits, of those who started and of
	// those who expired.
	QueueWaitTotalMs report.Number `json:"queue_wait_total_ms"`
}

// Shares are completed / weight, by tenant.
type Shares struct {
	ByCount map[string]report.Number `json:"by_count"`
	ByCost  map[string]report.Number `json:"by_cost"`
}

const (
	shownTenants = 16
	all          = "all"
)

// result turns the jobs of an arm into its figures.
func (s Setting) result(jobs *jobs) *Result {
	r := &Result{
		Policy: s.Policy, Weights: maps.Clone(s.Weights), Slots: s.Slots, DeadlineS: number(s.DeadlineS), RetryCopies: s.RetryCopies,
		Tenants: len(jobs.names),
		Offered: report.Counts{}, Recognised: report.Counts{}, Rejected: report.Counts{}, Completed: report.Counts{},
		Expired: report.Counts{}, CompletedCost: report.Counts{},
		NormalisedShare: Shares{map[string]report.Number{}, map[string]report.Number{}},
	}
	shown := func(tenant int) string {
		if len(jobs.names) > shownTenants {
			return all
		}
		return jobs.names[tenant]
	}
	done, cost := make([]int64, len(jobs.names)), make([]int64, len(jobs.names))
	for i := range jobs.names {
		for _, counts := range []report.Counts{r.Offered, r.Recognised, r.Rejected, r.Completed, r.Expired, r.CompletedCost} {
			counts[shown(i)] += 0
		}
		r.Recognised[shown(i)] += jobs.recognised[i]
	}
	var waited int64
	for _, j := range jobs.list {
		name := shown(j.tenant)
		r.Offered[name]++
		switch j.became {
		case completed:
			r.Completed[name]++
			r.CompletedCost[name] += j.cost
			done[j.tenant]++
			cost[j.tenant] += j.cost
			waited += int64(j.started - j.arrived)
		case expired:
			r.Expired[name]++
			waited += int64(j.ended - j.arrived)
		default:
			r.Rejected[name]++
		}
	}
	if len(done) > 0 {
		r.CompletedLeast, r.CompletedMost = slices.Min(done), slices.Max(done)
	}
	byCount, byCost := make([]float64, len(done)), make([]float64, len(done))
	for i, name := range jobs.names {
		weight := float64(s.weight(name))
		byCount[i], byCost[i] = float64(done[i])/weight, float64(cost[i])/weight
		if len(jobs.names) <= shownTenants {
			r.NormalisedShare.ByCount[name], r.NormalisedShare.ByCost[name] = number(byCount[i]), number(byCost[i])
		}
	}
	r.Jain, r.JainByCost = jain(byCount), jain(byCost)
	r.QueueWaitTotalMs = report.Ms(waited)
	s.followQueue(jobs, r)
	return r
}

func (s Setting) weight(tenant string) int {
	if w, listed := s.Weights[tenant]; listed {
		return w
	}
	return 1
}

// jain is (sum x)^2 / (n sum x^2): Jain, Chiu and Hawe, "A Quantitative Measure
// of Fairness" (1984). Nothing for anybody has no index.
func jain(x []float64) report.Number {
	sum, squares := 0.0, 0.0
	for _, v := range x {
		sum += v
		squares += float64(v * v)
	}
	if squares == 0 {
		return report.None()
	}
	return number(float64(sum*sum) / float64(float64(len(x))*squares))
}

func number(v float64) report.Number { return report.Number(v) }

func numbers(values ...float64) []report.Number {
	n := make([]report.Number, len(values))
	for i, v := range values {
		n[i] = number(v)
	}
	return n
}
