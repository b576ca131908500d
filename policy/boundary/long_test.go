package boundary

import (
	"os"
	"strconv"
	"testing"

	"github.com/spillway-dev/spillway/policy/chance"
)

// longEnv is how many events the long run takes; a million and more are meant for
// the night.
const longEnv = "SPILLWAY_EVENTS"

// Hundreds of thousands of arrivals, ends, hang-ups and reconfigurations that add,
// shrink and remove classes while work of theirs still runs, one machine after the
// other: no event is followed by a panic, a slot too many or an account that does not
// close (kubernetes/kubernetes#140884).
func TestShrinkingWhileWorkLingers(t *testing.T) {
	events := 20_000
	if text := os.Getenv(longEnv); text != "" {
		var err error
		if events, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", longEnv, err)
		}
	}
	steps, reloads := 0, 0
	for seed := uint64(1); steps < events; seed++ {
		script := make([]byte, 3000)
		dice := chance.New(seed)
		for i := range script {
			script[i] = byte(dice.Uint64())
		}
		p := played(script)
		if p.err != nil {
			t.Fatalf("seed %d: %v", seed, p.err)
		}
		steps += p.steps
		reloads += p.reloads
	}
	t.Logf("%d events, %d of them reconfigurations", steps, reloads)
	if reloads < events/1000 {
		t.Errorf("only %d of %d events were reconfigurations", reloads, steps)
	}
}
