package gateway

import (
	"math"
	"net/http"
	"testing"
	"time"
)

func TestReadDeadline(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct {
		name      string
		header    http.Header
		left      time.Duration
		malformed int
	}{
		{"none", http.Header{}, 0, 0},
		{"gRPC", http.Header{headerGRPCTimeout: {"250m"}}, 250 * ms, 0},
		{"gRPC, every unit", http.Header{headerGRPCTimeout: {"1H", "1M", "1S", "1000m", "1000u", "999999n"}}, 999999, 0},
		{"gRPC, passed", http.Header{headerGRPCTimeout: {"0n"}}, passed, 0},
		{"gRPC, the most", http.Header{headerGRPCTimeout: {"99999999H"}}, math.MaxInt64, 0},
		{"Envoy", http.Header{headerEnvoyTimeout: {"300"}}, 300 * ms, 0},
		{"Envoy, no limit", http.Header{headerEnvoyTimeout: {"0"}}, 0, 0},
		{"the smallest", http.Header{headerGRPCTimeout: {"2S"}, headerEnvoyTimeout: {"300"}, headerEnvoyExpected: {"400"}}, 300 * ms, 0},
		{"nonsense beside sense", http.Header{headerGRPCTimeout: {"2 S"}, headerEnvoyTimeout: {"-3", "300"}, headerEnvoyExpected: {"1e3"}}, 300 * ms, 3},
		{"nine digits", http.Header{headerGRPCTimeout: {"123456789m"}}, 0, 1},
		{"no unit", http.Header{headerGRPCTimeout: {"123"}}, 0, 1},
		{"a unit alone", http.Header{headerGRPCTimeout: {"m"}}, 0, 1},
		{"empty", http.Header{headerGRPCTimeout: {""}, headerEnvoyTimeout: {""}}, 0, 2},
		{"thirteen digits", http.Header{headerEnvoyTimeout: {"1234567890123"}}, 0, 1},
		{"not ASCII", http.Header{headerGRPCTimeout: {"٣S"}}, 0, 1},
	}
	for _, tt := range tests {
		if got := readDeadline(tt.header); got.left != tt.left || got.malformed != tt.malformed {
			t.Errorf("%s: %v, %d malformed; want %v, %d", tt.name, got.left, got.malformed, tt.left, tt.malformed)
		}
	}
}

func TestPassDeadline(t *testing.T) {
	const left = 1500 * time.Millisecond
	tests := []struct {
		name        string
		in          http.Header
		grpc, named bool
		want        http.Header
	}{
		{"nobody named one", http.Header{}, false, false, http.Header{headerEnvoyExpected: {"1500"}}},
		{"over gRPC nobody named one", http.Header{}, true, false, http.Header{headerEnvoyExpected: {"1500"}}},
		{"gRPC", http.Header{headerGRPCTimeout: {"2S"}}, true, true, http.Header{headerEnvoyExpected: {"1500"}, headerGRPCTimeout: {"1500000u"}}},
		{"over gRPC by Envoy's header", http.Header{headerEnvoyTimeout: {"2000"}}, true, true,
			http.Header{headerEnvoyExpected: {"1500"}, headerEnvoyTimeout: {"1500"}, headerGRPCTimeout: {"1500000u"}}},
		{"malformed", http.Header{headerGRPCTimeout: {"soon"}}, true, false, http.Header{headerEnvoyExpected: {"1500"}}},
	}
	for _, tt := range tests {
		passDeadline(tt.in, left, tt.grpc, tt.named)
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

// What is passed on is never more than what was left, and can be read again.
func FuzzDeadline(f *testing.F) {
	for _, s := range []string{"1S", "250m", "99999999H", "0n", "", "-1S", "1e3", "0", "300", "18446744073709551616", "\x00", "１S"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, grpc, envoy string) {
		n := readDeadline(http.Header{headerGRPCTimeout: {grpc}, headerEnvoyTimeout: {envoy}})
		if n.left < passed || n.malformed < 0 || n.malformed > 2 {
			t.Fatalf("read as %+v", n)
		}
		if n.left <= 0 {
			return
		}
		again, ok := parseGRPCTimeout(formatGRPCTimeout(n.left))
		if !ok || again > n.left || again == passed {
			t.Fatalf("%v was passed on as %s, read as %v, %v", n.left, formatGRPCTimeout(n.left), again, ok)
		}
	})
}
