package plan_test

import (
	"math"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/policy/plan"
)

// Erlang's table: two slots at a load of two lose 40 %, ten at ten 21.5 %.
func TestLossIsErlangs(t *testing.T) {
	for _, c := range []struct {
		slots int64
		load  float64
		want  float64
	}{{1, 1, 0.5}, {2, 2, 0.4}, {10, 10, 0.2146}, {100, 100, 0.0757}, {10, 1, 0.0000001}, {0, 3, 1}, {5, 0, 0}, {5, math.NaN(), 0}} {
		if got := plan.Loss(c.slots, c.load); math.Abs(got-c.want) > 1e-4 {
			t.Errorf("%d slots at a load of %v lose %.5f, want %.5f", c.slots, c.load, got, c.want)
		}
	}
}

// At 600/s against 400/s a class leaves 200/s to its rungs. Of two slots of 20 ms, 100/s,
// nobody waiting, four are offered: 52 % get none.
func TestWhatComesToARungAtTheExpectedRate(t *testing.T) {
	list := plan.Rung{Name: "list", Upstream: "list", Slots: 2, Service: 20 * ms}
	in := func(rungs ...plan.Rung) plan.Input {
		one := oneClass(40, 100*ms, func(c *plan.Class) { c.Expect.Rate, c.Rungs = 600, rungs })
		one.Upstreams = append(one.Upstreams, plan.Upstream{Name: "list", Slots: 2, Service: plan.Constant(20 * ms)})
		return one
	}
	figures := func(p plan.Plan) map[string]float64 {
		all := map[string]float64{}
		for _, f := range p.Classes["c"].Figures {
			all[f.Name] = float64(f.Value)
		}
		return all
	}
	p := plan.Make(in(plan.Rung{Name: "cache"}, list, plan.Rung{Name: "static"}))
	f := figures(p)
	for name, want := range map[string]float64{"rung_list_per_s": 100, "rung_list_arrives_per_s": 200, "rung_list_answers_per_s": 76.9} {
		if math.Abs(f[name]-want) > 0.1 {
			t.Errorf("%s is %.2f, want %v", name, f[name], want)
		}
	}
	if text := strings.Join(p.Classes["c"].Warnings, "\n"); !strings.Contains(text, "rung list answers 76.9/s of what the class cannot serve at the expected rate, and 123/s go on to static; give it more slots, or a wait of a few service times") ||
		!strings.Contains(text, "; its ladder answers them") {
		t.Error(text)
	}
	list.Wait = 50 * ms
	if f := figures(plan.Make(in(list))); f["rung_list_answers_per_s"] != 100 {
		t.Errorf("with a wait it answers %v", f["rung_list_answers_per_s"])
	}
	list.Slots = 20
	if text := strings.Join(plan.Make(in(list)).Classes["c"].Warnings, "\n"); strings.Contains(text, "rung list answers") {
		t.Error(text)
	}
}
