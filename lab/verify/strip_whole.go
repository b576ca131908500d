package verify

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// stripWhole verifies what lab strip says beside its arms: its runs are the arms of
// the table, in their order, and the ways back are those of their arms.
func (c *checker) stripWhole(raw []byte) error {
	var d struct {
		Runs    []map[string]any          `json:"runs"`
		Arms    map[string]map[string]any `json:"arms"`
		Release map[string]map[string]any `json:"release"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return err
	}
	n := 0
	for _, arm := range c.plan.Arms {
		var s struct {
			Further bool `json:"further"`
		}
		if err := json.Unmarshal(arm.Settings, &s); err != nil {
			return fmt.Errorf("arm %s: settings: %w", arm.Name, err)
		}
		if s.Further {
			continue
		}
		if n >= len(d.Runs) || !reflect.DeepEqual(d.Runs[n], d.Arms[arm.Name]) {
			c.mismatch(fmt.Sprintf("runs.%d", n), "not the figures of "+arm.Name, "those")
		}
		n++
	}
	c.same("runs", fmt.Sprint(len(d.Runs)), fmt.Sprint(n))
	for way, arm := range map[string]string{"steps": "steps", "at_once": "at-once"} { // order does not matter: each by itself
		for _, f := range []struct{ written, from, figure string }{
			{"seconds_to_full", "release-", "seconds_to_full"}, {"direction_changes", "release-", "direction_changes"},
			{"dip_direction_changes", "dip-", "direction_changes"}, {"dip_on_time_share", "dip-", "on_time_share"},
			{"dip_flips_in_sentence_share", "dip-", "flips_in_sentence_share"},
		} {
			of := d.Arms[f.from+arm]
			if of != nil && !reflect.DeepEqual(d.Release[way][f.written], of[f.figure]) {
				c.mismatch("release."+way+"."+f.written, fmt.Sprint(d.Release[way][f.written]), fmt.Sprint(of[f.figure]))
			}
		}
	}
	return nil
}
