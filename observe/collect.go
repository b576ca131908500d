package observe

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
)

var descs = func() map[*Definition]*prometheus.Desc {
	all := make(map[*Definition]*prometheus.Desc, len(definitions))
	for _, d := range definitions {
		all[d] = d.desc()
	}
	return all
}()

// sink is where a scrape's figures go.
type sink struct{ out chan<- prometheus.Metric }

func (s sink) add(d *Definition, v float64, labels ...string) {
	kind := prometheus.GaugeValue
	if d.Kind == "counter" {
		kind = prometheus.CounterValue
	}
	s.out <- prometheus.MustNewConstMetric(descs[d], kind, v, labels...)
}

// class adds a class's figures. seen is nil where nobody reports any.
func (s sink) class(resource string, c *boundary.ClassState, seen *Class) {
	figures := []struct {
		d *Definition
		v float64
	}{
		{&offered, float64(c.Tally.Offered)},
		{&waiting, float64(c.Tally.Waiting)},
		{&blocked, float64(c.Blocked)},
		{&waitingSize, float64(c.WaitingBytes)},
		{&oldest, c.OldestWait.Seconds()},
		{&running, float64(c.Tally.Running)},
		{&streaming, float64(c.Streams)},
		{&abandoned, float64(c.Tally.Abandoned)},
		{&slotsUsed, float64(c.Used)},
		{&slotsLimit, float64(c.Slots)},
		{&slotsBorrow, float64(c.Borrow)},
		{&idleRefused, c.IdleWhileRefusing.Seconds()},
		{&utilisation, float64(c.Used) / float64(max(c.Slots, 1))},
		{&allowedWait, c.AllowedWait.Seconds()},
		{&holding, c.Holding.Seconds()},
		{&serviceTime, c.ServiceTime.Seconds()},
		{&throughput, c.ThroughputPerS},
		{&tenants, float64(c.Tenants)},
		{&operatorLeft, c.OperatorLeft.Seconds()},
	}
	for _, f := range figures {
		s.add(f.d, f.v, resource, c.Name)
	}
	s.add(&bound, float64(c.Bound), resource, c.Name, c.BoundFrom)
	s.law(resource, c.Name, c.Shed)
	s.answered(resource, c, seen)
	s.shadow(resource, c)
	if seen != nil {
		s.histogram(&queueWait, &seen.Wait, resource, c.Name)
		s.histogram(&firstByte, &seen.First, resource, c.Name)
		s.expressions(resource, c.Name, seen)
	}
}

// answered adds the answers by reason. served is always there, so that a rate
// of it can be asked for before the first request.
func (s sink) answered(resource string, c *boundary.ClassState, seen *Class) {
	for r, n := range c.Tally.Answered {
		why := reason.Reason(r)
		if n == 0 && why != reason.Served {
			continue
		}
		if why == reason.Failed && seen != nil {
			passed := min(seen.Passed.Load(), n)
			s.add(&answered, float64(passed), resource, c.Name, why.String(), rungPrimary)
			n -= passed
		}
		n = s.below(resource, c, seen, why, n)
		s.add(&answered, float64(n), resource, c.Name, why.String(), rungOf(why))
	}
}

const rungPrimary = "primary"

func rungOf(why reason.Reason) string {
	switch {
	case why.Kind() == reason.KindDone:
		return rungPrimary
	case why == reason.CallerGone:
		return "none"
	}
	return "refusal"
}

func (s sink) histogram(d *Definition, h *Histogram, labels ...string) {
	s.out <- &histogramMetric{descs[d], h, prometheus.MakeLabelPairs(descs[d], labels)}
}

// histogramMetric shows a Histogram with both kinds of buckets, for which the
// client has no constructor.
type histogramMetric struct {
	desc   *prometheus.Desc
	h      *Histogram
	labels []*dto.LabelPair
}

// Desc implements prometheus.Metric.
func (m *histogramMetric) Desc() *prometheus.Desc { return m.desc }

// Write implements prometheus.Metric.
func (m *histogramMetric) Write(out *dto.Metric) error {
	out.Label = m.labels
	out.Histogram = new(dto.Histogram)
	m.h.write(out.Histogram)
	return nil
}
