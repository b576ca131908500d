package latency_test

import (
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/trial/latency"
	"github.com/spillway-dev/spillway/workload/trace"
)

func TestASampleKeepsAllThereIsRoomFor(t *testing.T) {
	var s latency.Sample
	for _, d := range []time.Duration{3, 1, 0, -5, 2} {
		s.Take(d)
	}
	got := s.Sorted()
	if s.Count != 3 || len(got) != 3 || got[0] != 1 || got[2] != 3 {
		t.Errorf("%d calls: %v", s.Count, got)
	}
}

// However long the file, what is kept stands for all of it evenly: neither its
// beginning nor its end counts for more.
func TestASampleStaysEven(t *testing.T) {
	var s latency.Sample
	const n = 5*latency.SampleMost + 7
	for i := range n {
		s.Take(time.Duration(i + 1))
	}
	got := s.Sorted()
	if s.Count != n || len(got) > latency.SampleMost || len(got) < latency.SampleMost/2 {
		t.Fatalf("%d of %d calls kept", len(got), s.Count)
	}
	for i := 1; i < len(got); i++ {
		if got[i]-got[i-1] != got[1]-got[0] {
			t.Fatalf("call %d follows call %d, where every %dth is kept", got[i], got[i-1], got[1]-got[0])
		}
	}
	if last := time.Duration(n) - got[len(got)-1]; last >= got[1]-got[0] {
		t.Errorf("the last %d calls are missing", last)
	}
}

func TestClassesOfATrace(t *testing.T) {
	m, err := trace.ParseMapping("at=at:ms,class=class,service=took:ms")
	if err != nil {
		t.Fatal(err)
	}
	r, err := trace.New(strings.NewReader("at,class,took\n1,a,5\n2,b,7\n3,a,6\n"), "x.csv", trace.Options{Mapping: m})
	if err != nil {
		t.Fatal(err)
	}
	all, err := latency.FromTrace(r)
	if err != nil || len(all) != 2 || all[0].Class != "a" || all[0].Count != 2 || all[1].Class != "b" {
		t.Fatalf("%+v, %v", all, err)
	}
	if got := all[0].Sorted(); got[0] != 5*time.Millisecond || got[1] != 6*time.Millisecond {
		t.Errorf("%v", got)
	}
}

func TestLists(t *testing.T) {
	for _, tt := range []struct {
		name, in, fault string
		count           int64
	}{
		{"durations", "2.9ms\n1.5s\n", "", 2},
		{"comments, empty lines and another system's line ends", "# store\r\n\r\n 3ms\r\n", "", 1},
		{"a number without a unit", "2.9ms\n2.9\n", `line 2: "2.9" is no duration; write one with its unit`, 0},
		{"a negative one", "-1s\n", "line 1", 0},
		{"none", "# nothing\n", "no durations", 0},
		{"a line without end", "1ms\n" + strings.Repeat("1", 1000), "line 2 is longer than 256 bytes", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := latency.FromList(strings.NewReader(tt.in))
			switch {
			case tt.fault == "" && (err != nil || s.Count != tt.count):
				t.Errorf("%d calls, %v", s.Count, err)
			case tt.fault != "" && (err == nil || !strings.Contains(err.Error(), tt.fault)):
				t.Errorf("%v, want %s", err, tt.fault)
			}
		})
	}
	for in, want := range map[string]bool{"\n# x\n2.9ms\n": true, "2.9\n": false, "": false, "at,service\n1,2\n": false} {
		if latency.IsList([]byte(in)) != want {
			t.Errorf("%q: want %v", in, want)
		}
	}
}

func FuzzFromList(f *testing.F) {
	for _, seed := range []string{"2.9ms\n", "# x\n\n1h\r\n", "-1s", "9999999999999h", "1", "\x00", strings.Repeat("1ms", 100)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		s, err := latency.FromList(strings.NewReader(in))
		if err == nil && (s.Count == 0 || s.Sorted()[0] <= 0) {
			t.Errorf("%q: accepted with %d calls", in, s.Count)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: more than a line: %v", in, err)
		}
	})
}
