package pressure

import (
	"math"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"
)

// files is a machine whose process is in the group /app.
func files(more map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, says := range map[string]string{
		"proc/self/cgroup":                     "1:name=systemd:/\n0::/app\n",
		"proc/pressure/cpu":                    "some avg10=90.00 avg60=0.00 avg300=0.00 total=1\n",
		"proc/pressure/memory":                 "some avg10=80.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=1.00\n",
		"sys/fs/cgroup/app/cgroup.controllers": "cpu memory\n",
		"sys/fs/cgroup/app/cpu.max":            "150000 100000\n",
		"sys/fs/cgroup/app/cpu.stat":           "usage_usec 1000000\nuser_usec 1\n",
		"sys/fs/cgroup/app/memory.current":     "700\n",
		"sys/fs/cgroup/app/memory.max":         "1000\n",
		"sys/fs/cgroup/app/memory.high":        "max\n",
		"sys/fs/cgroup/app/memory.stat":        "anon 400\ninactive_file 200\n",
		"sys/fs/cgroup/app/cpu.pressure":       "some avg10=12.50 avg60=0.00 avg300=0.00 total=1\n",
		"sys/fs/cgroup/app/memory.pressure":    "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n",
	} {
		m[name] = &fstest.MapFile{Data: []byte(says)}
	}
	for name, says := range more {
		if says == "" {
			delete(m, name)
			continue
		}
		m[name] = &fstest.MapFile{Data: []byte(says)}
	}
	return m
}

const app = "sys/fs/cgroup/app/"

func TestWhatIsReadAndWhatIsNotKnown(t *testing.T) {
	unknown := Share{}
	for _, c := range []struct {
		name  string
		files map[string]string
		// of the first look; cpu is a difference and not known before the second
		memory, cpuStall, memoryStall Share
	}{
		{"a group with limits", nil, share(0.5), share(0.125), share(0)},
		{"slowed down before its limit", map[string]string{app + "memory.high": "800"}, share(0.625), share(0.125), share(0)},
		{"no memory limit", map[string]string{app + "memory.max": "max"}, unknown, share(0.125), share(0)},
		{"no figures of cached files", map[string]string{app + "memory.stat": ""}, share(0.7), share(0.125), share(0)},
		{"more dropped than used", map[string]string{app + "memory.stat": "inactive_file 9000"}, share(0), share(0.125), share(0)},
		{"a kernel without stalls", map[string]string{app + "cpu.pressure": "", app + "memory.pressure": "", "proc/pressure/cpu": "", "proc/pressure/memory": ""}, share(0.5), unknown, unknown},
		{"a group without stalls: the machine's", map[string]string{app + "cpu.pressure": "", app + "memory.pressure": ""}, share(0.5), share(0.9), share(0.8)},
		{"version 1", map[string]string{"proc/self/cgroup": "4:memory:/app\n1:cpu:/app\n"}, unknown, share(0.9), share(0.8)},
		{"no group there", map[string]string{"proc/self/cgroup": "0::/other\n"}, unknown, share(0.9), share(0.8)},
		{"a group that leads out", map[string]string{"proc/self/cgroup": "0::/../../../proc\n"}, unknown, share(0.9), share(0.8)},
		{"nonsense", map[string]string{
			app + "memory.current": "-7", app + "memory.max": "many", app + "memory.high": "0x10", app + "cpu.pressure": "some avg10=NaN",
			app + "memory.pressure": "some avg10=101", "proc/pressure/cpu": "some", "proc/pressure/memory": "some avg10=",
		}, unknown, unknown, unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := newReader(files(c.files)).Read(time.Unix(1, 0))
			if got.Memory != c.memory || got.CPUStall != c.cpuStall || got.MemoryStall != c.memoryStall || got.CPU.Known {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestProcessorTimeIsPartOfTheQuota(t *testing.T) {
	for _, c := range []struct {
		name       string
		max, after string
		passed     time.Duration
		want       Share
	}{
		{"0.75 of 1.5 processors", "150000 100000", "usage_usec 1750000", time.Second, share(0.5)},
		{"no quota", "max 100000", "usage_usec 1750000", time.Second, Share{}},
		{"no time has passed", "150000 100000", "usage_usec 1750000", 0, Share{}},
		{"the clock stepped back", "150000 100000", "usage_usec 1750000", -time.Second, Share{}},
		{"the counter began anew", "150000 100000", "usage_usec 10", time.Second, Share{}},
		{"it cannot be read any more", "150000 100000", "", time.Second, Share{}},
		{"a quota of nothing", "0 0", "usage_usec 1750000", time.Second, Share{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := files(map[string]string{app + "cpu.max": c.max})
			r := newReader(m)
			now := time.Unix(1, 0)
			r.Read(now)
			m[app+"cpu.stat"] = &fstest.MapFile{Data: []byte(c.after)}
			if got := r.Read(now.Add(c.passed)); got.CPU != c.want {
				t.Errorf("%+v, want %+v", got.CPU, c.want)
			}
		})
	}
}

func TestTheMostPressingSignalCounts(t *testing.T) {
	r := Reading{CPU: share(0.45), Memory: share(0.8), CPUStall: Share{}, MemoryStall: share(0), Scheduler: 30 * time.Millisecond, SchedulerKnown: true}
	for _, c := range []struct {
		name   string
		limits Limits
		level  float64
		signal string
		known  bool
	}{
		{"nothing is looked at", Limits{}, 0, "", false},
		{"only what is not known", Limits{CPUStall: 0.1}, 0, "", false},
		{"the processor", Limits{CPU: 0.9, CPUStall: 0.1}, 0.5, "cpu", true},
		{"memory presses more", Limits{CPU: 0.9, Memory: 0.8}, 1, "memory", true},
		{"the scheduler most", Limits{CPU: 0.9, Memory: 0.8, Scheduler: 10 * time.Millisecond}, 3, "scheduler", true},
		{"known to be none", Limits{MemoryStall: 0.1}, 0, "memory_stall", true},
	} {
		all := c.limits.Signals(r)
		if most := Most(all); math.Abs(most.Level-c.level) > 1e-9 || most.Name != c.signal || most.Known != c.known {
			t.Errorf("%s: %+v of %+v", c.name, most, all)
		}
	}
}

func TestHowLongGoroutinesWaitToBeRun(t *testing.T) {
	h := &metrics.Float64Histogram{Buckets: []float64{math.Inf(-1), 0, 0.001, 0.01, math.Inf(1)}, Counts: []uint64{0, 0, 0, 0}}
	for _, c := range []struct {
		name   string
		counts []uint64
		want   time.Duration
		known  bool
	}{
		{"none ran", []uint64{0, 5, 5, 5}, 0, false},
		{"99 of 100 under a millisecond", []uint64{0, 104, 5, 6}, 10 * time.Millisecond, true},
		{"all", []uint64{0, 105, 5, 5}, time.Millisecond, true},
		{"two of 100 without an end", []uint64{0, 103, 5, 7}, 10 * time.Millisecond, true},
	} {
		h.Counts = c.counts
		if got, known := percentile(h, []uint64{0, 5, 5, 5}, 0.99); got != c.want || known != c.known {
			t.Errorf("%s: %v %v, want %v", c.name, got, known, c.want)
		}
	}
}

// On whatever machine this is: nothing panics, and the runtime tells what it does.
func TestThisMachine(t *testing.T) {
	r := NewReader()
	r.Read(time.Now())
	var all sync.WaitGroup
	for range 1000 { // the runtime looks at one in eight
		all.Go(func() {})
	}
	all.Wait()
	got := r.Read(time.Now())
	if !got.SchedulerKnown || got.Scheduler < 0 {
		t.Errorf("%+v: a thousand goroutines have been run", got)
	}
	t.Logf("%+v", got)
}

func FuzzFiles(f *testing.F) {
	f.Add("0::/app", "150000 100000", "usage_usec 5", "some avg10=1.5 avg60=0", "17")
	f.Add("0::/", "max 1", "usage_usec 99999999999999999999", "some avg10=1e400", "max")
	f.Add(strings.Repeat("0::\n", 99), "-1 -1", "\x00", "full\nsome avg10", "0")
	f.Fuzz(func(t *testing.T, own, max, stat, stalls, memory string) {
		m := files(map[string]string{
			app + "cpu.max": max, app + "cpu.stat": stat, app + "cpu.pressure": stalls, app + "memory.current": memory, app + "memory.max": memory,
			"proc/self/cgroup": own, "proc/pressure/cpu": stalls,
		})
		r := newReader(m)
		r.Read(time.Unix(1, 0))
		got := r.Read(time.Unix(2, 0))
		for _, s := range []Share{got.CPU, got.Memory, got.CPUStall, got.MemoryStall} {
			if s.Value < 0 || math.IsNaN(s.Value) || math.IsInf(s.Value, 0) || !s.Known && s.Value != 0 {
				t.Errorf("%+v", got)
			}
		}
	})
}
