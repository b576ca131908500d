package pressure

import (
	"io/fs"
	"os"
	"path"
	"runtime/metrics"
	"time"
)

// Reader looks at the signals of the process that it runs in. It has one user at
// a time.
type Reader struct {
	root      fs.FS
	used      int64 // microseconds of processor time at the last look
	at        time.Time
	looked    bool
	scheduler scheduler
}

// NewReader returns a reader of this machine's files.
func NewReader() *Reader { return newReader(os.DirFS("/")) }

func newReader(root fs.FS) *Reader { return &Reader{root: root} }

// Read looks at every signal. Those that are differences (cpu, scheduler) are
// known from the second look on.
func (r *Reader) Read(now time.Time) Reading {
	var out Reading
	dir, grouped := group(r.root)
	if grouped {
		out.CPU = r.cpu(dir, now)
		out.Memory = memory(r.root, dir)
	} else {
		r.looked = false
	}
	out.CPUStall = r.stall(dir, "cpu", grouped)
	out.MemoryStall = r.stall(dir, "memory", grouped)
	out.Scheduler, out.SchedulerKnown = r.scheduler.read()
	return out
}

// cpu is how much of its quota the group has used since the last look.
func (r *Reader) cpu(dir string, now time.Time) Share {
	most, limited := quota(text(r.root, path.Join(dir, "cpu.max")))
	used, ok := field(text(r.root, path.Join(dir, "cpu.stat")), "usage_usec")
	before, passed, looked := r.used, now.Sub(r.at), r.looked
	r.used, r.at, r.looked = used, now, ok
	if !ok || !limited || !looked || passed <= 0 || used < before {
		return Share{}
	}
	return share(float64(used-before) / float64(passed.Microseconds()) / most)
}

// memory is how much of its limit the group uses, without cached files that
// nobody has used of late: the kernel drops those before anybody waits.
func memory(root fs.FS, dir string) Share {
	used, ok := number(text(root, path.Join(dir, "memory.current")))
	most, limited := number(text(root, path.Join(dir, "memory.max")))
	if high, ok := number(text(root, path.Join(dir, "memory.high"))); ok && (!limited || high < most) {
		most, limited = high, true // from there on it is slowed down
	}
	if !ok || !limited || most == 0 {
		return Share{}
	}
	idle, _ := field(text(root, path.Join(dir, "memory.stat")), "inactive_file")
	return share(float64(max(used-idle, 0)) / float64(most))
}

func (r *Reader) stall(dir, of string, grouped bool) Share {
	if grouped {
		if s := stall(text(r.root, path.Join(dir, of+".pressure"))); s.Known {
			return s
		}
	}
	return stall(text(r.root, "proc/pressure/"+of))
}

// scheduler reads how long goroutines wait to be run, from the histogram that the
// runtime keeps anyway.
type scheduler struct {
	sample [1]metrics.Sample
	before []uint64
}

const schedulerMetric = "/sched/latencies:seconds"

func (s *scheduler) read() (time.Duration, bool) {
	s.sample[0].Name = schedulerMetric
	metrics.Read(s.sample[:])
	if s.sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		return 0, false
	}
	h := s.sample[0].Value.Float64Histogram()
	before := s.before
	s.before = append([]uint64(nil), h.Counts...)
	if len(before) != len(h.Counts) {
		return 0, false
	}
	return percentile(h, before, 0.99)
}

// percentile is the upper edge of the bucket in which the part of what was counted
// since lies, and false if nothing was.
func percentile(h *metrics.Float64Histogram, before []uint64, part float64) (time.Duration, bool) {
	all := uint64(0)
	for i, n := range h.Counts {
		all += n - before[i]
	}
	if all == 0 {
		return 0, false
	}
	want := uint64(part * float64(all))
	for i, n := range h.Counts {
		n -= before[i]
		if n > want {
			edge := h.Buckets[i+1]
			if edge > 3600 { // the last bucket ends nowhere
				edge = h.Buckets[i]
			}
			return time.Duration(edge * 1e9), true
		}
		want -= n
	}
	return 0, false
}
