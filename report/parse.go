package report

import (
	"encoding/json"
	"fmt"
)

// Parse reads a report that a command wrote with --json; unknown fields are
// ignored, because commands may add some. What it returns can be drawn: no
// account or course is missing and all columns of a course are of one length.
func Parse(document []byte) (*Report, error) {
	var r Report
	if err := json.Unmarshal(document, &r); err != nil {
		return nil, fmt.Errorf("report: not a traffic report as written by --json: %w", err)
	}
	for _, part := range []struct {
		kind   string
		groups Groups
	}{{"classes", r.Classes}, {"tenants", r.Tenants}} {
		for _, name := range part.groups.Names() {
			if part.groups[name] == nil {
				return nil, fmt.Errorf("report: %s: %q is null, want an object", part.kind, name)
			}
		}
	}
	for _, name := range r.Series.Names() {
		if err := r.Series[name].valid(); err != nil {
			return nil, fmt.Errorf("report: series of %q: %w", name, err)
		}
	}
	return &r, nil
}

func (s *Series) valid() error {
	if s == nil {
		return fmt.Errorf("is null, want an object")
	}
	n := len(s.TS)
	if n > 0 && !(s.BucketS > 0) {
		return fmt.Errorf("bucket_s is %v, want more than 0", s.BucketS)
	}
	type column struct {
		name   string
		length int
	}
	columns := []column{
		{"offered", len(s.Offered)}, {"waiting", len(s.Waiting)}, {"running", len(s.Running)}, {"queue_depth", len(s.QueueDepth)},
		{"queue_wait_p50_ms", len(s.QueueWaitP50Ms)}, {"queue_wait_p99_ms", len(s.QueueWaitP99Ms)}, {"capacity_per_s", len(s.CapacityPerS)},
	}
	for _, name := range s.Answered.Names() {
		columns = append(columns, column{"answered." + name, len(s.Answered[name])})
	}
	for _, name := range s.Refused.Names() {
		columns = append(columns, column{"refused." + name, len(s.Refused[name])})
	}
	for _, c := range columns {
		if c.length != n {
			return fmt.Errorf("%s has %d entries, want %d as t_s has", c.name, c.length, n)
		}
	}
	return nil
}
