package gateway

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/config/assemble"
	"github.com/spillway-dev/spillway/gateway/compare"
	"github.com/spillway-dev/spillway/policy/gap"
	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/policy/unit"
)

// learning is how a class's gap is learned, and what is known of it. A nil learning
// knows nothing. Safe for concurrent use.
type learning struct {
	how     *assemble.Learned
	cfg     config.Learned
	compare compare.How
	*learned
}

// learned is what is known, and what became of the requests that were to be compared.
// It outlives the configuration.
type learned struct {
	began time.Time // its time 0

	mu   sync.Mutex
	core *gap.Learner

	known  atomic.Pointer[map[string]shed.Gap] // never nil
	looked atomic.Int64                        // when that was made

	served  atomic.Uint64 // counts those that might be compared
	running atomic.Int64

	// compared was compared. unspared found no capacity to spare, unanswered no
	// cheaper answer, unlike was of a kind that cannot be compared.
	compared, unspared, unanswered, unlike atomic.Int64
}

// newLearning returns how the class learns, or nil if it does not. What before has
// learned in the same way goes on.
func newLearning(cfg *config.Config, c config.Class, before *class) (*learning, error) {
	how, err := assemble.LearnedOf(cfg, c)
	if how == nil || err != nil {
		return nil, err
	}
	l := &learning{how: how, cfg: c.Gap.Learned, compare: compare.New(c.Gap.Learned.Compare)}
	if before != nil && before.learning != nil && before.learning.means() == l.means() {
		l.learned = before.learning.learned
		return l, nil
	}
	l.learned = &learned{began: time.Now(), core: gap.NewLearner(how.Rule)}
	l.known.Store(new(map[string]shed.Gap))
	return l, nil
}

// means is what a bucket and a distance mean: what was learned under another meaning
// is worth nothing.
func (l *learning) means() string { return fmt.Sprintf("%q %+v", l.cfg.By, l.cfg.Compare) }

// begin puts it into force.
func (l *learning) begin() {
	if l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.core.Reconfigure(l.how.Rule)
	}
}

func (l *learned) now() unit.Instant { return unit.Instant(time.Since(l.began)) }

// noBucket is that of a request of which it cannot be worked out. No key is as long.
var noBucket = strings.Repeat("?", keyMax+1)

// bucketOf returns the bucket of a request.
func (l *learning) bucketOf(a *asked) string {
	if l.how.By == nil {
		return ""
	}
	text, err := l.how.By.Text(a)
	if err != nil {
		a.class.seen.Expressions.By.Add(1)
		return noBucket
	}
	return bounded(text)
}

// knownFor is how long what is known is used before it is looked at again: it changes
// by a sample at a time, and grows old.
const knownFor = time.Second

// gapOf returns what is known of a bucket, false if that is not enough.
func (l *learning) gapOf(bucket string) (shed.Gap, bool) {
	if now, was := l.now(), l.looked.Load(); now.Sub(unit.Instant(was)) >= knownFor && l.looked.CompareAndSwap(was, int64(now)) {
		l.look()
	}
	g, ok := (*l.known.Load())[bucket]
	return g, ok
}

// look takes over what is known by now.
func (l *learned) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.core.Known(l.now())
	l.known.Store(&known)
}

// record takes in how far two answers were apart.
func (l *learned) record(bucket string, distance shed.Gap) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.core.Record(l.now(), bucket, distance)
	l.compared.Add(1)
}

// bequeathedGap is what is learned of a class's gap, for the process that takes over.
type bequeathedGap struct {
	Means   string      `json:"means"`
	Buckets []gap.State `json:"buckets"`
}

func bequeathGaps(now *generation) map[string]bequeathedGap {
	all := make(map[string]bequeathedGap)
	for _, c := range now.classes {
		if l := c.learning; l != nil {
			l.mu.Lock()
			all[c.name] = bequeathedGap{l.means(), l.core.Export(l.now())}
			l.mu.Unlock()
		}
	}
	return all
}

// takeGaps takes over what the process before has learned, of classes that learn in
// the same way.
func takeGaps(now *generation, all map[string]bequeathedGap) {
	for _, c := range now.classes {
		if was, ok := all[c.name]; ok && c.learning != nil && c.learning.means() == was.Means {
			c.learning.mu.Lock()
			c.learning.core.Import(c.learning.now(), was.Buckets)
			c.learning.mu.Unlock()
			c.learning.look()
		}
	}
}
