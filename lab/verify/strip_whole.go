package verify

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
)

// stripWhole verifies what lab strip says beside its arms: its runs are the arms of
// the table, in their order, and the ways back are those of their arms.
func (c *checker) stripWhole(raw []byte) error {
	var d struct {
		Runs    []map[string]any          `json:"runs"`
		Arms    map[string]map[string]any `json:"arms"`
		Release map[string]map[string]any `json:"release"`
		Live    struct {
			Beside []stripBeside `json:"beside_virtual"`
		} `json:"live"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return err
	}
	n, twins := 0, map[string]string{}
	for _, arm := range c.plan.Arms {
		var s struct {
			Further bool   `json:"further"`
			Twin    string `json:"twin"`
		}
		if err := json.Unmarshal(arm.Settings, &s); err != nil {
			return fmt.Errorf("arm %s: settings: %w", arm.Name, err)
		}
		if s.Twin != "" {
			twins[s.Twin] = arm.Name
		}
		if s.Further {
			continue
		}
		if n >= len(d.Runs) || !reflect.DeepEqual(d.Runs[n], d.Arms[arm.Name]) {
			c.mismatch(fmt.Sprintf("runs.%d", n), "not the figures of "+arm.Name, "those")
		}
		n++
	}
	c.beside(d.Live.Beside, twins)
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

// stripBeside is a live arm and the same in virtual time.
type stripBeside struct {
	Arm     string  `json:"arm"`
	Virtual string  `json:"virtual"`
	Shed    float64 `json:"shed_share_difference"`
	OnTime  float64 `json:"on_time_share_difference"`
	Hit     float64 `json:"hit_at_3_difference"`
	Within  bool    `json:"within"`
}

// beside verifies what is said of live arms and their twins, by name.
func (c *checker) beside(written []stripBeside, twins map[string]string) {
	c.same("live.beside_virtual", fmt.Sprint(len(written)), fmt.Sprint(len(twins)))
	for _, b := range written {
		where := "live.beside_virtual." + b.Arm + "."
		c.same(where+"virtual", b.Virtual, twins[b.Arm])
		within := true
		for _, f := range []struct {
			name    string
			written float64
			figure  string
			near    float64
		}{
			{"shed_share_difference", b.Shed, "shed_share", 0.03}, {"on_time_share_difference", b.OnTime, "on_time_share", 0.02}, {"hit_at_3_difference", b.Hit, "hit_at_3", 0.01},
		} {
			found := c.lookup(b.Arm, f.figure) - c.lookup(twins[b.Arm], f.figure)
			c.near(where+f.name, f.written, found)
			within = within && math.Abs(found) <= f.near
		}
		c.same(where+"within", fmt.Sprint(b.Within), fmt.Sprint(within))
	}
}
