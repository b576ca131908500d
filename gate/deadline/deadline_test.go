package deadline

import (
	"math"
	"net/http"
	"testing"
	"time"
)

func TestRead(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct {
		name      string
		header    http.Header
		left      time.Duration
		malformed int
	}{
		{"none", http.Header{}, 0, 0},
		{"gRPC", http.Header{HeaderGRPC: {"250m"}}, 250 * ms, 0},
		{"gRPC, every unit", http.Header{HeaderGRPC: {"1H", "1M", "1S", "1000m", "1000u", "999999n"}}, 999999, 0},
		{"gRPC, passed", http.Header{HeaderGRPC: {"0n"}}, Passed, 0},
		{"gRPC, the most", http.Header{HeaderGRPC: {"99999999H"}}, math.MaxInt64, 0},
		{"Envoy", http.Header{HeaderUpstream: {"300"}}, 300 * ms, 0},
		{"Envoy, no limit", http.Header{HeaderUpstream: {"0"}}, 0, 0},
		{"the smallest", http.Header{HeaderGRPC: {"2S"}, HeaderUpstream: {"300"}, HeaderExpected: {"400"}}, 300 * ms, 0},
		{"nonsense beside sense", http.Header{HeaderGRPC: {"2 S"}, HeaderUpstream: {"-3", "300"}, HeaderExpected: {"1e3"}}, 300 * ms, 3},
		{"nine digits", http.Header{HeaderGRPC: {"123456789m"}}, 0, 1},
		{"no unit", http.Header{HeaderGRPC: {"123"}}, 0, 1},
		{"a unit alone", http.Header{HeaderGRPC: {"m"}}, 0, 1},
		{"empty", http.Header{HeaderGRPC: {""}, HeaderUpstream: {""}}, 0, 2},
		{"thirteen digits", http.Header{HeaderUpstream: {"1234567890123"}}, 0, 1},
		{"not ASCII", http.Header{HeaderGRPC: {"٣S"}}, 0, 1},
	}
	for _, tt := range tests {
		if got := Read(tt.header); got.Left != tt.left || got.Malformed != tt.malformed {
			t.Errorf("%s: %v, %d malformed; want %v, %d", tt.name, got.Left, got.Malformed, tt.left, tt.malformed)
		}
	}
}

func TestWrite(t *testing.T) {
	const left = 1500 * time.Millisecond
	tests := []struct {
		name        string
		in          http.Header
		grpc, named bool
		want        http.Header
	}{
		{"nobody named one", http.Header{}, false, false, http.Header{HeaderExpected: {"1500"}}},
		{"over gRPC nobody named one", http.Header{}, true, false, http.Header{HeaderExpected: {"1500"}}},
		{"gRPC", http.Header{HeaderGRPC: {"2S"}}, true, true, http.Header{HeaderExpected: {"1500"}, HeaderGRPC: {"1500000u"}}},
		{"over gRPC by Envoy's header", http.Header{HeaderUpstream: {"2000"}}, true, true,
			http.Header{HeaderExpected: {"1500"}, HeaderUpstream: {"1500"}, HeaderGRPC: {"1500000u"}}},
		{"malformed", http.Header{HeaderGRPC: {"soon"}}, true, false, http.Header{HeaderExpected: {"1500"}}},
	}
	for _, tt := range tests {
		Write(tt.in, left, tt.grpc, tt.named)
		if len(tt.in) != len(tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, tt.in, tt.want)
		}
		for name := range tt.want {
			if tt.in.Get(name) != tt.want.Get(name) {
				t.Errorf("%s: %v, want %v", tt.name, tt.in, tt.want)
			}
		}
	}
}

// What is passed on is never more than what was left, or a millisecond, and can be read again.
func FuzzDeadline(f *testing.F) {
	for _, s := range []string{"1S", "250m", "99999999H", "0n", "", "-1S", "1e3", "0", "300", "18446744073709551616", "\x00", "１S"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, grpc, envoy string) {
		n := Read(http.Header{HeaderGRPC: {grpc}, HeaderUpstream: {envoy}})
		if n.Left < Passed || n.Malformed < 0 || n.Malformed > 2 {
			t.Fatalf("read as %+v", n)
		}
		if n.Left <= 0 {
			return
		}
		again, ok := parseGRPC(GRPC(n.Left))
		if !ok || again > max(n.Left, time.Millisecond) || again == Passed {
			t.Fatalf("%v was passed on as %s, read as %v, %v", n.Left, GRPC(n.Left), again, ok)
		}
	})
}
