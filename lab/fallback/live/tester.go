package live

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/spillway-dev/spillway/lab/parts"
	"github.com/spillway-dev/spillway/load"
	"github.com/spillway-dev/spillway/policy/unit"
)

// testerPart offers the requests and checks the answers.
type testerPart struct {
	parts.Trouble
	arrivals []time.Duration // the warm-up's, which are less than 0, then the round's
	warm     int             // so many are the warm-up's
	flatOut  time.Duration
	senders  []*link[ask, answer]
	clock    parts.Clock
	done     chan struct{}

	mu      sync.Mutex
	idle    []int // senders
	queue   int   // the next arrival that waits for a sender; arrived: none
	arrived int
	left    int // arrivals without an answer
	told    tested
}

// tested is the tester's result.
type tested struct {
	Sent  []sent
	Wrong int
	First string // what was wrong first
	PerS  float64
}

// sent is what is told of a request.
type sent struct {
	N                          int64
	Scheduled, Begun, Answered unit.Instant
	// Prompt: a sender was idle when it was due, so that what is between Scheduled and
	// Begun is the tester's own.
	Prompt bool
	Rung   rung
}

// warmUp is how long before the start requests are sent that do not count, until settle
// before it.
const (
	warmUp = time.Second
	settle = 200 * time.Millisecond
)

// Open implements parts.Part.
func (p *testerPart) Open(s spec, peer string) (string, error) {
	r := s.round()
	draws, err := r.draws()
	if err != nil {
		return "", err
	}
	p.flatOut, p.done = r.flatOut, make(chan struct{})
	if p.flatOut == 0 {
		for at := -warmUp; at < -settle; at += time.Duration(float64(time.Second) / r.Rate) {
			p.arrivals = append(p.arrivals, at)
		}
		p.warm = len(p.arrivals)
		p.arrivals = append(p.arrivals, draws.Arrivals(r.Rate, r.For)...)
	}
	p.left = len(p.arrivals)
	p.told.Sent = make([]sent, p.left)
	for i := range r.Senders {
		l, err := dial[ask, answer](peer)
		if err != nil {
			return "", fmt.Errorf("the service: %w", err)
		}
		p.senders = append(p.senders, l)
		p.idle = append(p.idle, r.Senders-1-i)
	}
	return "", nil
}

// Begin implements parts.Part.
func (p *testerPart) Begin(c parts.Clock) {
	p.clock = c
	if p.flatOut > 0 {
		go p.race()
		return
	}
	for i := range p.senders {
		go p.hear(i)
	}
	if p.left == 0 {
		close(p.done)
	}
	go load.Pace(context.Background(), c.Start, p.arrivals, p.arrive)
}

// End implements parts.Part.
func (p *testerPart) End() any {
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told.Sent = p.told.Sent[p.warm:]
	return &p.told
}

func (p *testerPart) lost(err error) { p.Fail(fmt.Errorf("the service: %w", err)) }

// arrive has an idle sender make the request that is due, or has it wait for one.
func (p *testerPart) arrive(i int) {
	p.mu.Lock()
	p.arrived++
	n := len(p.idle)
	if n == 0 {
		p.mu.Unlock()
		return
	}
	who := p.idle[n-1]
	p.idle = p.idle[:n-1]
	p.queue++
	p.told.Sent[i].Prompt = true
	p.mu.Unlock()
	p.send(who, i)
}

// send makes a request.
func (p *testerPart) send(who, i int) {
	q := ask{N: int64(i - p.warm), Due: int64(p.arrivals[i])}
	p.told.Sent[i].N, p.told.Sent[i].Scheduled, p.told.Sent[i].Begun = q.N, unit.Instant(q.Due), p.clock.Now()
	if err := p.senders[who].send(&q); err != nil {
		p.lost(err)
	}
}

// hear takes a sender's answers, and has it make the request that has waited longest.
func (p *testerPart) hear(who int) {
	for {
		var a answer
		if err := p.senders[who].receive(&a); err != nil {
			p.lost(err)
			return
		}
		now := p.clock.Now()
		i := int(a.N) + p.warm
		p.mu.Lock()
		if i < 0 || i >= p.arrived || p.told.Sent[i].Answered != 0 {
			p.mu.Unlock()
			p.lost(fmt.Errorf("an answer to request %d, which was not asked or has been answered", a.N))
			return
		}
		p.told.Sent[i].Answered, p.told.Sent[i].Rung = now, a.Rung
		p.check(&a)
		next := -1
		if p.queue < p.arrived {
			next = p.queue
			p.queue++
		} else {
			p.idle = append(p.idle, who)
		}
		if p.left--; p.left == 0 {
			close(p.done)
		}
		p.mu.Unlock()
		if next >= 0 {
			p.send(who, next)
		}
	}
}

// check counts an answer that is not right. The caller holds mu.
func (p *testerPart) check(a *answer) {
	if why := a.fault(); why != "" {
		if p.told.Wrong++; p.told.Wrong == 1 {
			p.told.First = fmt.Sprintf("request %d: %s", a.N, why)
		}
	}
}

// fault says what is wrong with an answer: a score must be that of its request, a
// stand-in that of an earlier one of the same customer, or the default.
func (a *answer) fault() string {
	switch a.Rung {
	case primary:
		if a.Of != a.N || a.Score != score(featuresOf(a.N)) {
			return fmt.Sprintf("scored %v, of request %d; it is %v", a.Score, a.Of, score(featuresOf(a.N)))
		}
	case lastKnown:
		if customerOf(a.Of) != customerOf(a.N) || a.Of == a.N || a.Score != score(featuresOf(a.Of)) {
			return fmt.Sprintf("last known score %v, of request %d; that is another customer's, its own, or %v", a.Score, a.Of, score(featuresOf(a.Of)))
		}
	case byDefault:
		if a.Score != base || a.Of != -1 {
			return fmt.Sprintf("default of %v; it is %v", a.Score, base)
		}
	case refusal:
	default:
		return fmt.Sprintf("rung %d, which there is not", a.Rung)
	}
	return ""
}

// race has every sender ask again as soon as it is answered, until the time is over,
// and counts what is answered from the start on.
func (p *testerPart) race() {
	var all sync.WaitGroup
	counted, end := make([]int, len(p.senders)), unit.Instant(p.flatOut)
	for who, l := range p.senders {
		all.Go(func() {
			for n := int64(who); p.clock.Now() < end; n += int64(len(p.senders)) {
				var a answer
				if err := l.send(&ask{N: n}); err != nil {
					p.lost(err)
					return
				}
				if err := l.receive(&a); err != nil {
					p.lost(err)
					return
				}
				if p.clock.Now() >= 0 {
					counted[who]++
				}
				p.mu.Lock()
				p.check(&a)
				p.mu.Unlock()
			}
		})
	}
	all.Wait()
	sum := 0
	for _, n := range counted {
		sum += n
	}
	p.told.PerS = float64(sum) / p.flatOut.Seconds()
	close(p.done)
}
