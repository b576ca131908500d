package limits

import (
	"math"

	"github.com/spillway-dev/spillway/report"
)

// Result is one arm's figures. Work in flight is that at the resource, in means of a
// second; a second is judged where demand exceeds capacity and the law has had the
// time that it is allowed.
type Result struct {
	Law      string  `json:"law"`
	Scenario string  `json:"scenario"`
	Steps    []Found `json:"steps"`

	// Error is how far work in flight is from capacity in the judged seconds, in the
	// mean and in parts of capacity; Within is the share of them in which it is at
	// most a tenth.
	Error  report.Number `json:"error"`
	Within report.Number `json:"within_share"`
	// OverS is the longest run of judged seconds with more than 1.3 times capacity in
	// flight.
	OverS int64 `json:"over_s"`
	// Wasted is the share of what the resource could have done in the judged seconds
	// that it did not do.
	Wasted report.Number `json:"wasted_share"`
	// Most is the most in flight, of all seconds.
	Most report.Number `json:"most_in_flight"`
	// Variation is the coefficient of variation of work in flight over the last minute.
	Variation report.Number `json:"variation_last_minute"`
	// Ill is the work in flight over the last ten seconds in which nothing was
	// answered.
	Ill report.Number `json:"in_flight_while_out"`

	Offered int64 `json:"offered"`
	Served  int64 `json:"served"`
	// Refused counts all that was not served, Healthy those of them that were offered
	// while demand was below capacity and nothing was wrong, ColdStart's first ten
	// seconds left out and counted apart.
	Refused   int64 `json:"refused"`
	Healthy   int64 `json:"refused_healthy"`
	ColdStart int64 `json:"refused_healthy_first_10_s"`
	// Goodput is what was served of what could have been, the lesser of demand and
	// capacity; Worst is that of the worst second, the first five left out and those
	// in which nothing could be.
	Goodput report.Number `json:"goodput_share"`
	Worst   report.Number `json:"worst_second_goodput_share"`
	// MeanMS is from offer to answer, of what was served.
	MeanMS report.Number `json:"mean_ms"`

	// HeldMS is the time of all work in flight, up to the end of the offered load.
	HeldMS report.Number `json:"held_total_ms"`

	InFlight []report.Number `json:"in_flight"` // by second; of long runs by ten
}

// Found is what a law made of a change of capacity or of demand.
type Found struct {
	AtS      int `json:"at_s"`
	Capacity int `json:"capacity"`
	AllowedS int `json:"allowed_s"`
	// FoundS is after how many seconds the first three in a row began whose work in
	// flight is within a tenth of capacity; unknown if there are none.
	FoundS report.Number `json:"found_s"`
}

const (
	found      = 0.1 // of capacity
	over       = 1.3 // times capacity
	inARow     = 3   // seconds
	coldStart  = 10  // seconds
	settledS   = 5
	courseMost = 240 // seconds that are written one by one
	lastS      = 60
	outS       = 10
)

// allowedS is the later of 5 s and 250 service times.
func (s *Setting) allowedS(p *Phase) int {
	mean := serviceMS * max(p.Slower, 1)
	if s.Mixed { // of six calls five are of the quicker route
		mean *= 10.0 / 6
	}
	return max(5, int(math.Ceil(250*mean/1000)))
}

// phase is the phase that a second belongs to, and since when the law has had time.
func (s *Setting) phase(second int) (p *Phase, judged bool) {
	since := 0
	for i := range s.Phases {
		q := &s.Phases[i]
		if q.AtS > second {
			break
		}
		p = q
		if q.Step {
			since = q.AtS + s.allowedS(q)
		}
	}
	return p, p.Judged && second >= since
}

// could is what the resource could have served in a second.
func (p *Phase) could() float64 {
	if p.Slower == 0 {
		return 0
	}
	return float64(p.Capacity) * 1000 / serviceMS / p.Slower
}

// result is what the course came to.
func (c *course) result() *Result {
	s := c.setting
	r := &Result{Law: s.Law, Scenario: s.Scenario, Steps: []Found{}}
	for i := range s.Phases {
		if s.Phases[i].Step {
			r.Steps = append(r.Steps, c.found(i))
		}
	}
	c.judge(r)
	c.count(r)
	var held int64
	for _, v := range c.inFlight {
		held += v
	}
	r.HeldMS = report.Ms(held)
	r.InFlight = c.written()
	return r
}

func (c *course) found(i int) Found {
	s := c.setting
	p := &s.Phases[i]
	f := Found{AtS: p.AtS, Capacity: p.Capacity, AllowedS: s.allowedS(p), FoundS: report.None()}
	end := s.ForS
	for j := i + 1; j < len(s.Phases); j++ {
		if s.Phases[j].Step || !s.Phases[j].Judged {
			end = s.Phases[j].AtS
			break
		}
	}
	row := 0
	for second := p.AtS; second < end; second++ {
		now, _ := s.phase(second)
		if math.Abs(c.mean(second)-float64(now.Capacity)) > found*float64(now.Capacity) {
			row = 0
			continue
		}
		if row++; row == inARow {
			f.FoundS = report.Number(second + 1 - inARow - p.AtS)
			break
		}
	}
	return f
}

// judge fills in what the judged seconds say.
func (c *course) judge(r *Result) {
	var n, within, row int64
	var off, could, served, out, outs float64
	for second := range c.inFlight {
		p, judged := c.setting.phase(second)
		mean := c.mean(second)
		r.Most = max(r.Most, report.Number(mean))
		if p.Slower == 0 && second >= c.setting.outEnd(second)-outS {
			out += mean
			outs++
		}
		if !judged {
			row = 0
			continue
		}
		n++
		part := mean / float64(p.Capacity)
		off += math.Abs(part - 1)
		if math.Abs(part-1) <= found {
			within++
		}
		if row++; part <= over {
			row = 0
		}
		r.OverS = max(r.OverS, row)
		could += p.could()
		served += float64(c.served[second])
	}
	r.Error, r.Within, r.Wasted = report.None(), report.Share(within, n), report.None()
	if n > 0 {
		r.Error = report.Number(off / float64(n))
		if !c.setting.Mixed { // whose answers are not all of a size
			r.Wasted = report.Number(max(0, 1-served/could))
		}
	}
	r.Ill = report.Number(out / outs) // unknown where there were none
	r.Variation = c.variation()
}

// outEnd is when the phase of a second ends.
func (s *Setting) outEnd(second int) int {
	for i := range s.Phases {
		if s.end(i) > second {
			return s.end(i)
		}
	}
	return s.ForS
}

func (c *course) variation() report.Number {
	last := c.inFlight[max(0, len(c.inFlight)-lastS):]
	var sum, squares float64
	for _, v := range last {
		x := float64(v) / 1e9
		sum += x
		squares += float64(x * x)
	}
	n := float64(len(last))
	mean := sum / n
	return report.Number(math.Sqrt(max(0, squares/n-float64(mean*mean))) / mean)
}

// count fills in what became of requests.
func (c *course) count(r *Result) {
	var could, served float64
	worst := math.NaN()
	for second := range c.offered {
		p, _ := c.setting.phase(second)
		r.Offered += c.offered[second]
		r.Served += c.inTime[second]
		r.Refused += c.refused[second]
		if p.Load < 1 && p.Slower == 1 {
			if second < coldStart {
				r.ColdStart += c.refused[second]
			} else {
				r.Healthy += c.refused[second]
			}
		}
		most := p.could()
		if c.setting.Mixed {
			continue
		}
		most = min(most, float64(c.offered[second]))
		could += most
		served += min(float64(c.served[second]), most)
		if second >= settledS && most > 0 && !(float64(c.served[second])/most >= worst) {
			worst = float64(c.served[second]) / most
		}
	}
	r.Goodput, r.Worst = report.None(), report.Number(worst)
	if could > 0 {
		r.Goodput = report.Number(served / could)
	}
	r.MeanMS = report.None()
	if r.Served > 0 {
		r.MeanMS = report.Number(float64(c.latency) / float64(r.Served) / 1e6)
	}
}

// written is the course as it is written.
func (c *course) written() []report.Number {
	each := 1
	if len(c.inFlight) > courseMost {
		each = 10
	}
	var all []report.Number
	for i := 0; i < len(c.inFlight); i += each {
		var sum int64
		part := c.inFlight[i:min(i+each, len(c.inFlight))]
		for _, v := range part {
			sum += v
		}
		all = append(all, report.Number(float64(sum)/1e9/float64(len(part))))
	}
	return all
}
