package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/test/cluster"
)

// network is what lies between a gateway and the database.
type network struct {
	net.Listener
	to      string
	mu      sync.Mutex
	changed *sync.Cond
	cut     bool          // connections are broken off, and none is made
	swallow bool          // nothing arrives any more, and nobody is told
	delay   time.Duration // of what the gateway sends
	open    map[net.Conn]bool
}

func newNetwork(t *testing.T, to string) *network {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &network{Listener: l, to: to, open: map[net.Conn]bool{}}
	n.changed = sync.NewCond(&n.mu)
	go n.serve()
	t.Cleanup(func() { l.Close(); n.set(true, false, 0) })
	return n
}

// set makes the network as it is from then on.
func (n *network) set(cut, swallow bool, delay time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut, n.swallow, n.delay = cut, swallow, delay
	if cut {
		for c := range n.open { // all of them
			c.Close()
		}
	}
	n.changed.Broadcast()
}

func (n *network) serve() {
	for {
		from, err := n.Accept()
		if err != nil {
			return
		}
		n.mu.Lock()
		cut := n.cut
		n.mu.Unlock()
		to, err := net.Dial("tcp", n.to)
		if err != nil || cut {
			from.Close()
			if to != nil {
				to.Close()
			}
			continue
		}
		n.mu.Lock()
		n.open[from], n.open[to] = true, true
		n.mu.Unlock()
		go n.carry(to, from, true)
		go n.carry(from, to, false)
	}
}

// carry carries bytes one way.
func (n *network) carry(to, from net.Conn, late bool) {
	defer from.Close()
	defer to.Close()
	b := make([]byte, 32<<10)
	for {
		k, err := from.Read(b)
		n.mu.Lock()
		delay := n.delay
		for n.swallow && !n.cut {
			n.changed.Wait()
		}
		n.mu.Unlock()
		if late && delay > 0 {
			<-time.After(delay)
		}
		if _, wrong := to.Write(b[:k]); err != nil || wrong != nil {
			return
		}
	}
}

// through is the URL of a database, by way of a network.
func through(t *testing.T, database string) (string, *network) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	n := newNetwork(t, u.Host)
	u.Host = n.Addr().String()
	return u.String(), n
}

// Two gateways share three slots; between one of them and the database the network is
// cut, swallows what is sent, or is slow. Whatever it does: never are there more than
// three, what cannot be reserved is told so, and when it is well again the same
// gateway goes on.
func TestTheNetworkFails(t *testing.T) {
	c := cluster.Start(t)
	for i, fault := range []struct {
		name         string
		cut, swallow bool
		delay        time.Duration
		answers      bool // calls are decided all the same
	}{
		{"cut", true, false, 0, false},
		{"half-open", false, true, 0, false},
		{"slow", false, false, 20 * time.Millisecond, true},
	} {
		t.Run(fault.name, func(t *testing.T) {
			database := c.Database(t, fmt.Sprint("network", i))
			far, between := through(t, database)
			all := []*ledger.Ledger{impatient(t, far), gateways(t, database, 1)[0]}
			const most = 3
			pool := ledger.Ref{Name: "calls", Limit: quota.Limit{Unit: quota.Concurrent, Most: most}}
			var told, done [2]atomic.Int64
			var running, peak atomic.Int64
			ctx, stop := context.WithCancel(context.Background())
			var hands sync.WaitGroup
			for g, l := range all {
				for hand := range 4 {
					hands.Go(func() {
						for n := 0; ctx.Err() == nil; n++ {
							id := fmt.Sprint(g, "-", hand, "-", n)
							got, err := l.Reserve(context.Background(), ledger.Ask{ID: id, Budgets: []ledger.Ref{pool}, Amounts: quota.One()})
							if err != nil {
								if !errors.Is(err, ledger.ErrUnavailable) {
									t.Error(err)
								}
								told[g].Add(1)
								if errors.Is(err, ledger.ErrUncertain) {
									settle(l, id, true)
								}
								continue
							}
							if !got.OK() {
								continue
							}
							if l.Start(context.Background(), id, 0) != nil {
								settle(l, id, true) // and it is not sent
								continue
							}
							now := running.Add(1)
							for was := peak.Load(); now > was && !peak.CompareAndSwap(was, now); was = peak.Load() {
							}
							runtime.Gosched()
							running.Add(-1)
							settle(l, id, false)
							done[g].Add(1)
						}
					})
				}
			}
			await := func(what string, ok func() bool) {
				t.Helper()
				for begun := time.Now(); !ok(); {
					if time.Since(begun) > time.Minute {
						t.Fatal(what)
					}
					runtime.Gosched()
				}
			}
			more := func(c *atomic.Int64, n int64) func() bool {
				from := c.Load()
				return func() bool { return c.Load() >= from+n }
			}
			await("both are served", more(&done[0], 3))
			between.set(fault.cut, fault.swallow, fault.delay)
			if fault.answers {
				await("slow, and served", more(&done[0], 3))
			} else {
				await("told that it is not available", more(&told[0], 4))
			}
			await("the other one is served", more(&done[1], 3))
			between.set(false, false, 0)
			await("served again, without a restart", more(&done[0], 3))
			stop()
			hands.Wait()
			if p := peak.Load(); p > most {
				t.Errorf("%d at once, allowed are %d", p, most)
			}
			addsUp(t, all[1])
		})
	}
}

// impatient opens a ledger whose store waits for half a second.
func impatient(t *testing.T, url string) *ledger.Ledger {
	t.Helper()
	s, err := Open(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	s.timeout = 500 * time.Millisecond
	l, err := ledger.Open(context.Background(), s, "far")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// settle ends a call, however often it has to be told: by release if it was not sent.
func settle(l *ledger.Ledger, id string, unsent bool) {
	for {
		var err error
		if unsent {
			err = l.Release(context.Background(), id, 0)
			if errors.Is(err, quota.ErrStarted) { // its marker was written after all
				unsent = false
				continue
			}
		} else {
			err = l.Settle(context.Background(), id, 0, quota.Amounts{})
		}
		if !errors.Is(err, ledger.ErrUnavailable) {
			return
		}
	}
}
