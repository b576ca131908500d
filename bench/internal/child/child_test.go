package child

import (
	"testing"
	"time"
)

func TestParseCPU(t *testing.T) {
	const tail = " S 1 2 3 0 -1 4194560 100 0 0 0 150 50 7 8 20 0 9 0 1000"
	for name, program := range map[string]string{"plain": "peer", "brackets": "a) b (c", "spaces": "two words"} {
		got, err := parseCPU("42 (" + program + ")" + tail)
		if err != nil || got != 2*time.Second {
			t.Errorf("%s: %v, %v; want 2s", name, got, err)
		}
	}
	for _, bad := range []string{"", "42 peer S", "42 (peer) S 1", "42 (peer) S 1 2 3 0 -1 4 1 0 0 0 x 50 7"} {
		if _, err := parseCPU(bad); err == nil {
			t.Errorf("parseCPU(%q) makes no complaint", bad)
		}
	}
}
