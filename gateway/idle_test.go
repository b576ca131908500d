package gateway_test

import (
	"encoding/json"
	"regexp"
	"strconv"
	"testing"
)

// A class that waits beside an idle slot which is not its own is seen: where an
// operator looks, and where an alert does.
func TestIdleWhileRefusingIsShown(t *testing.T) {
	block := newBlocker()
	h := start(t, `  busy: { match: { path: /busy }, slots: 1 }
  spare: { match: { path: /spare }, slots: 3 }
`, block.ServeHTTP)
	shown := func() (pools map[string]float64, metrics map[string]float64) {
		var doc struct {
			Pools []struct {
				Class string
				Slots struct {
					Idle float64 `json:"idle_while_refusing_s"`
				}
			}
		}
		if err := json.Unmarshal([]byte(h.adminGet("/debug/pools", "Accept", "application/json").body), &doc); err != nil {
			t.Fatal(err)
		}
		pools, metrics = map[string]float64{}, map[string]float64{}
		for _, p := range doc.Pools {
			pools[p.Class] = p.Slots.Idle
		}
		for _, m := range regexp.MustCompile(`spillway_idle_while_refusing_seconds_total\{class="(\w+)",resource="app"\} (\S+)`).FindAllStringSubmatch(h.adminGet("/metrics").body, -1) {
			metrics[m[1]], _ = strconv.ParseFloat(m[2], 64)
		}
		return pools, metrics
	}
	done := make(chan got, 2)
	go func() { done <- h.get("/busy") }()
	<-block.began
	if pools, metrics := shown(); len(pools) != 2 || len(metrics) != 2 || pools["busy"] != 0 || metrics["busy"] != 0 {
		t.Errorf("before anybody waits: %v, %v", pools, metrics)
	}
	go func() { done <- h.get("/busy") }()
	h.eventually("idle slots to be counted", func() bool { pools, metrics := shown(); return pools["busy"] > 0 && metrics["busy"] > 0 })
	if pools, metrics := shown(); pools["spare"] != 0 || metrics["spare"] != 0 {
		t.Errorf("of the class that has them: %v, %v", pools, metrics)
	}
	for range 2 {
		block.let <- struct{}{}
		<-done
	}
}
