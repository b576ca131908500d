package observe

import (
	"sync"
	"time"
)

// Reloads is what became of attempts to change the configuration. The zero value
// has seen none.
type Reloads struct {
	mu      sync.Mutex
	results map[string]int64
	last    time.Time // of the latest that was taken over, the start included
	failing bool      // the latest was not
	digest  string    // of the configuration in force
}

// The results of a reload.
const (
	ReloadApplied   = "applied"
	ReloadUnchanged = "unchanged" // it says what is in force already
	ReloadRefused   = "refused"   // what was in force stays
)

// Begin notes the configuration that the process has started with.
func (r *Reloads) Begin(at time.Time, digest string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last, r.digest = at, digest
}

// Note enters a reload with one of the results and the configuration that is in
// force after it.
func (r *Reloads) Note(at time.Time, result, digest string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.results == nil {
		r.results = make(map[string]int64)
	}
	r.results[result]++
	r.failing = result == ReloadRefused
	r.digest = digest
	if !r.failing {
		r.last = at
	}
}

var (
	reloads      = Definition{"spillway_config_reloads_total", "counter", []string{"result"}, "Attempts to change the configuration: applied, unchanged (it says what is in force already) or refused (what was in force stays)."}
	reloadGood   = Definition{"spillway_config_last_reload_successful", "gauge", nil, "0 while the latest attempt was refused. Alarm on it: the file is not what runs."}
	reloadTime   = Definition{"spillway_config_last_reload_success_timestamp_seconds", "gauge", nil, "When the configuration in force was last found to be what the file says: the start, or a reload."}
	configDigest = Definition{"spillway_config_info", "gauge", []string{"digest"}, "Always 1; what the configuration in force says. Copies with different digests say different things."}
)

func (s sink) reloads(r *Reloads) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, result := range []string{ReloadApplied, ReloadUnchanged, ReloadRefused} {
		s.add(&reloads, float64(r.results[result]), result)
	}
	s.add(&reloadGood, truth(!r.failing))
	if !r.last.IsZero() {
		s.add(&reloadTime, float64(r.last.UnixMilli())/1e3)
	}
	if r.digest != "" {
		s.add(&configDigest, 1, r.digest)
	}
}
