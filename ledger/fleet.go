package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/unit"
)

// Fleet is how the processes on one store know of each other. What it calls is called
// by one goroutine, one after the other, and is not to wait for the ledger's Close.
type Fleet struct {
	// Heartbeat is how often this process says that it lives, and DeadAfter how long
	// another may say nothing: at least twice as long. See quota.Watch.
	Heartbeat, DeadAfter time.Duration
	// Dead is called when processes have died, or have gone, and their calls have been
	// released or are unknown. gone reports, of any name, that nobody of it lives.
	Dead func(owners []string, released, unknown int, gone func(owner string) bool)
	// Renamed is called when this process was taken for dead: what it had reserved is
	// released, what it had started is unknown, and it goes on under another name.
	Renamed func(was, is string)
	// Terms is called when another process has replaced the quotas.
	Terms func(Terms)
	// Failed is called when the store could not be told, or asked.
	Failed func(error)
}

// fleet is what a ledger keeps of it.
type fleet struct {
	Fleet
	renamed int
	watch   quota.Watch
	begun   time.Time
	stop    chan struct{}
	ended   chan struct{}
	once    sync.Once
	size    atomic.Int64 // how many were alive when it last looked
}

// Join has the process count as alive, as long as it says so at every heartbeat, and
// look after the others: who says nothing any more is removed, what it had reserved is
// released and what it had started is unknown. It returns when the process is written
// down; nothing is to be reserved before. Where nobody else can have the store open,
// whoever was there before is dead at once. Close leaves.
func (l *Ledger) Join(ctx context.Context, f Fleet) error {
	if f.Heartbeat <= 0 || f.DeadAfter < 2*f.Heartbeat {
		return fmt.Errorf("a heartbeat of %v and death after %v; death takes at least two heartbeats", f.Heartbeat, f.DeadAfter)
	}
	w := &l.fleet
	w.Fleet = f
	w.watch = quota.Watch{Heartbeat: f.Heartbeat, DeadAfter: f.DeadAfter}
	w.begun = time.Now()
	if err := l.comeIn(ctx); err != nil {
		return err
	}
	if err := l.removeGone(ctx); err != nil {
		return err
	}
	w.stop, w.ended = make(chan struct{}), make(chan struct{})
	go l.keepUp()
	return nil
}

// comeIn writes the process down, and where it is alone removes all others.
func (l *Ledger) comeIn(ctx context.Context) error {
	return l.group.do(ctx, Touches{}, func(r Rows) error {
		if l.store.Alone() {
			all, err := r.Owners()
			for _, o := range all {
				err = errors.Join(err, r.DropOwner(o))
			}
			if err != nil {
				return err
			}
		}
		return r.AddOwner(Owner{Name: l.owner, Seen: r.Time().Wall})
	})
}

// leave ends what Join has begun: the process has gone, and nobody need find out.
func (l *Ledger) leave() {
	w := &l.fleet
	if w.stop == nil {
		return
	}
	w.once.Do(func() {
		close(w.stop)
		<-w.ended
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		err := l.group.do(ctx, Touches{}, func(r Rows) error {
			all, err := r.Owners()
			for _, o := range all {
				if o.Name == l.owner {
					err = errors.Join(err, r.DropOwner(o))
				}
			}
			return err
		})
		if err == nil {
			err = l.removeGone(ctx)
		}
		l.failed(err)
	})
}

// keepUp says that the process lives, once a heartbeat, and looks after the others
// twice.
func (l *Ledger) keepUp() {
	w := &l.fleet
	defer close(w.ended)
	tick := time.NewTicker(w.Heartbeat / 2)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-w.stop:
			return
		case <-tick.C:
		}
		ctx, cancel := context.WithTimeout(context.Background(), w.DeadAfter)
		l.failed(l.round(ctx, n%2 == 0))
		cancel()
	}
}

func (l *Ledger) failed(err error) {
	if err != nil && l.fleet.Failed != nil {
		l.fleet.Failed(err)
	}
}

// round is one beat, or one look between two.
func (l *Ledger) round(ctx context.Context, beat bool) error {
	w := &l.fleet
	if beat {
		if err := l.beat(ctx); err != nil {
			return err
		}
	}
	if err := l.look(ctx); err != nil {
		return err
	}
	switch is, changed, err := l.follow(ctx); {
	case err != nil:
		return err
	case changed && w.Terms != nil:
		w.Terms(is)
	}
	return nil
}

// beat says that the process lives. If it is not written down any more it was taken for
// dead: its name is used up.
func (l *Ledger) beat(ctx context.Context) error {
	w := &l.fleet
	var was, is string
	err := l.group.do(ctx, Touches{}, func(r Rows) error {
		was = l.owner
		there, err := r.BeatOwner(l.owner, r.Time().Wall)
		if err != nil || there {
			is = was
			return err
		}
		w.renamed++
		is = fmt.Sprintf("%s+%d", l.name, w.renamed)
		if err := r.AddOwner(Owner{Name: is, Seen: r.Time().Wall}); err != nil {
			return err
		}
		l.owner = is
		return nil
	})
	if err == nil && is != was && w.Renamed != nil {
		w.Renamed(was, is)
	}
	return err
}

// look removes who has died, and what is left of whoever is not there.
func (l *Ledger) look(ctx context.Context) error {
	w := &l.fleet
	var all []Owner
	err := l.store.View(ctx, func(r Rows) (err error) {
		all, err = r.Owners()
		return err
	})
	if err != nil {
		return unavailable(err)
	}
	w.size.Store(int64(len(all)))
	beats := make([]quota.Beat, len(all))
	for i, o := range all {
		beats[i] = quota.Beat{Owner: o.Name, N: o.Beat}
	}
	dead := w.watch.Look(unit.Instant(time.Since(w.begun)), beats)
	all = slices.DeleteFunc(all, func(o Owner) bool { return !slices.Contains(dead, o.Name) })
	if len(all) > 0 {
		err := l.group.do(ctx, Touches{}, func(r Rows) (err error) {
			for _, o := range all {
				if o.Name != l.owner {
					err = errors.Join(err, r.DropOwner(o))
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return l.removeGone(ctx)
}

// removeGone ends what those hold who are not written down. Names are used once, so
// that who is not there now will never be.
func (l *Ledger) removeGone(ctx context.Context) error {
	var gone []string
	err := l.store.View(ctx, func(r Rows) error {
		holders, err := r.Holders()
		if err != nil {
			return err
		}
		all, err := r.Owners()
		gone = slices.DeleteFunc(holders, func(name string) bool {
			return slices.ContainsFunc(all, func(o Owner) bool { return o.Name == name })
		})
		return err
	})
	if err != nil {
		return unavailable(err)
	}
	if len(gone) == 0 {
		return nil
	}
	slices.Sort(gone)
	is := func(owner string) bool { _, found := slices.BinarySearch(gone, owner); return found }
	released, unknown, err := l.Orphan(ctx, is, "its gateway is gone")
	for _, name := range gone {
		err = errors.Join(err, l.endLeases(ctx, name))
	}
	if err == nil && l.fleet.Dead != nil {
		l.fleet.Dead(gone, released, unknown, is)
	}
	return err
}
