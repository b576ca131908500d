package gate_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spillway-dev/spillway/gate"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/reason"
)

// Cases K3: what is said of a request is what is enforced. Under twice the load the
// gate refuses whom a cheaper answer costs little, and what is kept before that, keeps
// a session to what it was told in a stretch, and says why.
func TestAGateShedsByWhatRequestsSay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var last boundary.Case
		g, err := gate.New(gate.Config{Strict: true, Classes: []gate.Class{{
			Name: "score", Deadline: 50 * time.Millisecond, Shed: &gate.Shed{},
			Pool: gate.Pool{Slots: 8, Latency: 50 * time.Millisecond, Service: 8 * time.Millisecond},
		}}}, gate.WithCases(func(_, _ string, x *boundary.Case) {
			mu.Lock()
			defer mu.Unlock()
			if x.Reason == reason.ShedForLoad {
				last = *x
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		const offered = 20_000 // at 2000/s, of 1000 that fit
		kinds := []gate.Request{{Kept: true}, {Gap: 100_000}, {Gap: 800_000}}
		request := func(i int) (r gate.Request, kind int) {
			kind = i % 4 % 3 // twice as many are kept as are of each gap
			r = kinds[kind]
			r.Session, r.Stretch = uint64(1+i/4%97), uint64(1+i/3000)
			return r, kind
		}
		why := make([]reason.Reason, offered)
		var all sync.WaitGroup
		for i := range why {
			all.Go(func() {
				r, _ := request(i)
				p, refused := g.Enter(t.Context(), r)
				if why[i] = refused.Reason; refused.Reason == reason.None {
					time.Sleep(8 * time.Millisecond)
					p.Done()
				}
			})
			time.Sleep(500 * time.Microsecond)
		}
		all.Wait()
		asked, shed := [3]int{}, [3]int{}
		rungs, flips := map[uint64]bool{}, 0
		for i := offered / 4; i < offered; i++ {
			r, kind := request(i)
			is := why[i] == reason.ShedForLoad
			asked[kind]++
			if is {
				shed[kind]++
			}
			key := r.Stretch<<32 | r.Session<<8 | uint64(kind)
			if was, known := rungs[key]; known && was != is && kind > 0 {
				flips++
			}
			rungs[key] = is
		}
		if shed[0] < asked[0]*9/10 || shed[2] > asked[2]/100 || flips > 0 {
			t.Errorf("of %v (kept, small gap, large gap) %v were shed, %d sessions were told now this and now that", asked, shed, flips)
		}
		if last.Shed.Share < 400_000 || last.Shed.DemandPerS < 1800 || last.Instead.Slots < 12 {
			t.Errorf("the last one is explained as %+v, instead %+v", last.Shed, last.Instead)
		}
		if err := g.Check(); err != nil {
			t.Error(err)
		}
	})
}
