package gateway

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/observe"
)

// An answer is watched once it has flowed for watchAfter, and not if it is over
// before: whichever of its neighbours end first.
func TestOnlyAnswersThatGoOnAreWatched(t *testing.T) {
	for name, c := range map[string]struct {
		ended []int // within watchAfter, in this order
		want  []bool
	}{
		"none ends":     {nil, []bool{true, true, true}},
		"first":         {[]int{0}, []bool{false, true, true}},
		"middle":        {[]int{1}, []bool{true, false, true}},
		"last":          {[]int{2}, []bool{true, true, false}},
		"last, first":   {[]int{2, 0}, []bool{false, true, false}},
		"all, in order": {[]int{0, 1, 2}, []bool{false, false, false}},
		"all, backward": {[]int{2, 1, 0}, []bool{false, false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gt, err := gate.New(gate.Config{Classes: []gate.Class{{Name: "all", Pool: gate.Pool{Slots: 3, Latency: time.Second}}}})
				if err != nil {
					t.Fatal(err)
				}
				g := &Gateway{idle: time.Minute}
				var flowing []*flow
				for range 3 {
					x := &exchange{gateway: g, in: new(http.Request), class: &class{gate: gt, cancel: true, seen: new(observe.Class)}}
					x.begin(io.NopCloser(strings.NewReader("")), false)
					flowing = append(flowing, &x.flowing)
					time.Sleep(watchAfter / 10)
				}
				for _, i := range c.ended {
					flowing[i].Close()
				}
				time.Sleep(watchAfter * 6 / 10)
				synctest.Wait()
				for i, f := range flowing {
					if f.watched.Load() {
						t.Errorf("answer %d is watched before its time", i)
					}
				}
				time.Sleep(watchAfter)
				synctest.Wait()
				var got []bool
				for _, f := range flowing {
					got = append(got, f.watched.Load())
					f.Close()
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("watched: %v, want %v", got, c.want)
				}
				if g.flows.first != nil || g.flows.latest != nil {
					t.Error("an answer that is over is still listed")
				}
			})
		})
	}
}
