package copies_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/gateway/copies"
	"github.com/spillway-dev/spillway/policy/spread"
)

// resolver answers with what the test says.
type resolver struct {
	mu    sync.Mutex
	now   []netip.Addr
	err   error
	asked int
}

func (r *resolver) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	return r.now, r.err
}

func (r *resolver) say(err error, addresses ...string) *resolver {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now, r.err = nil, err
	for _, a := range addresses {
		r.now = append(r.now, netip.MustParseAddr(a))
	}
	return r
}

func (r *resolver) lookups() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

// neighbours runs services at one port of several loopback addresses.
func neighbours(t *testing.T, addresses ...string) (port string, all []*service) {
	t.Helper()
	first := serveAt(t, addresses[0]+":0", nil)
	_, port, _ = net.SplitHostPort(first.address)
	all = []*service{first}
	for _, a := range addresses[1:] {
		l, err := net.Listen("tcp", net.JoinHostPort(a, port))
		if err != nil {
			t.Skipf("this machine has one loopback address, or the port is taken: %v", err)
		}
		l.Close()
		all = append(all, serveAt(t, net.JoinHostPort(a, port), nil))
	}
	return port, all
}

func TestEachAddressIsACopy(t *testing.T) {
	port, at := neighbours(t, "127.0.0.1", "127.0.0.2", "127.0.0.3")
	r := new(resolver).say(nil, "127.0.0.2", "127.0.0.1")
	s := set(t, copies.Config{URLs: []*url.URL{parse(t, "http://app.test:"+port)}, All: true, Resolver: r, ResolveEvery: 5 * time.Millisecond})
	name := func(i int) string { return "app.test/" + at[i].address }
	until(t, "two copies", func() bool { return word(s, name(0)) == "in" && word(s, name(1)) == "in" && len(s.States()) == 2 })
	for range 10 {
		if _, err := call(t, s, soon); err != nil {
			t.Fatal(err)
		}
	}
	if at[0].calls.Load() != 5 || at[1].calls.Load() != 5 {
		t.Errorf("%d and %d of 10", at[0].calls.Load(), at[1].calls.Load())
	}

	held, _ := s.Take(nil)
	r.say(nil, "127.0.0.2", "127.0.0.3")
	until(t, "the third is there, and starts slowly", func() bool { return word(s, name(2)) == "starting slowly" })
	until(t, "the first gets nothing more", func() bool { return word(s, name(0)) == "gone" })
	if held.Name() == name(0) && !strings.Contains(states(s), name(0)+" draining") {
		t.Errorf("it still has a request, and is not shown: %s", states(s))
	}
	held.Done()
	until(t, "the first has gone", func() bool { return len(s.States()) == 2 })

	r.say(errors.New("servfail"))
	n := r.lookups()
	until(t, "some lookups failed", func() bool { return r.lookups() > n+2 })
	if got := len(s.States()); got != 2 {
		t.Errorf("%d copies after lookups failed; what was known last stays", got)
	}
	if _, err := call(t, s, soon); err != nil {
		t.Error(err)
	}
}

// A name that stands for one copy moves: connections that were kept open to the old
// address are not used on.
func TestANameThatMovesIsFollowed(t *testing.T) {
	port, at := neighbours(t, "127.0.0.1", "127.0.0.2")
	r := new(resolver).say(nil, "127.0.0.1")
	s := set(t, copies.Config{URLs: []*url.URL{parse(t, "http://app.test:"+port)}, Resolver: r, ResolveEvery: 5 * time.Millisecond})
	call(t, s, soon)
	if at[0].calls.Load() != 1 {
		t.Fatalf("the first address got %d", at[0].calls.Load())
	}
	r.say(nil, "127.0.0.2")
	until(t, "the second address gets the requests", func() bool { call(t, s, soon); return at[1].calls.Load() > 0 })
	before := at[0].calls.Load()
	for range 5 {
		call(t, s, soon)
	}
	if at[0].calls.Load() != before {
		t.Error("the first address got requests afterwards")
	}
	if n := len(s.States()); n != 1 {
		t.Errorf("%d copies: %s", n, states(s))
	}
}

func TestAnotherAddressIsTriedWhenOneRefuses(t *testing.T) {
	a := serve(t, nil)
	_, port, _ := net.SplitHostPort(a.address)
	r := new(resolver).say(nil, "127.0.0.9", "127.0.0.1") // nobody listens at the first
	s := set(t, copies.Config{URLs: []*url.URL{parse(t, "http://app.test:"+port)}, Resolver: r})
	for range 3 {
		if _, err := call(t, s, soon); err != nil {
			t.Error(err)
		}
	}
}

func TestANameThatDoesNotExistFailsItsRequestsOnly(t *testing.T) {
	r := new(resolver).say(&net.DNSError{Err: "no such host", Name: "app.test", IsNotFound: true})
	s := set(t, copies.Config{URLs: []*url.URL{parse(t, "http://app.test")}, Resolver: r, ResolveEvery: 5 * time.Millisecond})
	if _, err := call(t, s, soon); err == nil || !strings.Contains(err.Error(), "there is no host app.test; check the name") {
		t.Errorf("%v", err)
	}
	a := serve(t, nil)
	host, port, _ := net.SplitHostPort(a.address)
	s = set(t, copies.Config{URLs: []*url.URL{parse(t, "http://app.test:"+port)}, Resolver: r, ResolveEvery: 5 * time.Millisecond, All: true})
	call(t, s, soon)
	r.say(nil, host)
	until(t, "it is there by now", func() bool { _, err := call(t, s, soon); return err == nil })
}

func TestAResolverThatFloodsIsBounded(t *testing.T) {
	r := new(resolver)
	for i := range 1000 {
		r.now = append(r.now, netip.AddrFrom4([4]byte{127, 1, byte(i >> 8), byte(i)}))
	}
	s := set(t, copies.Config{URLs: []*url.URL{parse(t, "http://app.test:1")}, All: true, Resolver: r})
	until(t, "copies", func() bool { return len(s.States()) == 100 })
}

func TestAddressesAreNotLookedUp(t *testing.T) {
	a := serve(t, nil)
	r := new(resolver).say(errors.New("nobody should ask"))
	s := set(t, copies.Config{URLs: of(a), Resolver: r, ResolveEvery: time.Millisecond})
	call(t, s, soon)
	if n := r.lookups(); n != 0 {
		t.Errorf("%d lookups", n)
	}
}

// Each address of a name has the name's weight, also one that is found later, and
// whatever the weights have become by then.
func TestAWeightIsEachAddresss(t *testing.T) {
	r := new(resolver).say(nil, "127.0.0.1", "127.0.0.2")
	s := set(t, copies.Config{
		URLs:    []*url.URL{parse(t, "http://127.0.0.9:1"), parse(t, "http://app.test:1")},
		Weights: []int{1, 2}, All: true, Resolver: r, ResolveEvery: 5 * time.Millisecond,
	})
	weights := func() string {
		all := map[string]int{}
		for _, st := range s.States() {
			if !st.Draining {
				all[strings.TrimPrefix(st.Name, "app.test/")] = st.Weight
			}
		}
		return fmt.Sprint(all)
	}
	until(t, "both are there", func() bool { return weights() == "map[127.0.0.1:1:2 127.0.0.2:1:2 127.0.0.9:1:1]" })
	got := map[string]int{}
	for range 10 {
		c, _ := s.Take(nil)
		got[c.Name()]++
		c.Done()
	}
	if fmt.Sprint(got) != "map[127.0.0.9:1:2 app.test/127.0.0.1:1:4 app.test/127.0.0.2:1:4]" {
		t.Errorf("of 10 requests %v", got)
	}
	s.Reconfigure(spread.Config{}, []int{0, 5})
	r.say(nil, "127.0.0.2", "127.0.0.3")
	until(t, "the third is there", func() bool { return weights() == "map[127.0.0.2:1:5 127.0.0.3:1:5 127.0.0.9:1:0]" })
	if got := word(s, "127.0.0.9:1"); got != "drained" {
		t.Errorf("the copy of weight 0 is %s", got)
	}
}
