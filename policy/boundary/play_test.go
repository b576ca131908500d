package boundary

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/limit"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/policy/rate"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/policy/unit"
	"pgregory.net/rapid"
)

// Whatever happens, in whatever order:
//
//   - after every event the accounts close and nothing waits beside a free slot
//     (Check);
//   - a request is decided exactly once, and only from a state in which it can be;
//   - whether a timer or the next event brings the machine up to date makes no
//     difference, nor whether a refusal is decided or stands: a twin that is
//     never told of time alone, and lets refusals stand, does the same;
//   - when all work has ended and time has passed, nobody is left, whatever the
//     configuration was changed to meanwhile.
func TestWhateverHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		script := make([]byte, rapid.IntRange(0, 3000).Draw(t, "length"))
		dice := chance.New(rapid.Uint64().Draw(t, "seed"))
		for i := range script {
			script[i] = byte(dice.Uint64())
		}
		if err := play(script); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzEvents feeds bytes as events to a machine; see player.step for what they
// mean.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("a flood of analytics beside checkout"))
	f.Add([]byte{2, 1, 0, 3, 4, 1, 9, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 12, 3, 200, 7, 1, 9, 9})
	f.Add([]byte{0, 0, 0, 0, 0, 0, 255, 255, 255, 0, 128, 13, 255, 14, 0, 1, 2, 3})
	f.Fuzz(func(t *testing.T, script []byte) {
		if err := play(script); err != nil {
			t.Fatal(err)
		}
	})
}

func play(script []byte) error { return played(script).err }

// played is the player when all has been played and everybody has left.
func played(script []byte) *player {
	p := &player{script: script, states: map[Ticket]pool.State{}, epoch: 1 << 40}
	cfg := p.config()
	for i := range cfg.Classes {
		cfg.Classes[i].Pool.Slots = max(cfg.Classes[i].Pool.Slots, 1)
	}
	p.machine, p.twin = must(New(cfg)), must(New(cfg))
	p.now = p.epoch
	for len(p.script) > 0 && p.err == nil {
		p.step()
		p.steps++
	}
	p.heal()
	return p
}

func must(m *Machine, err error) *Machine {
	if err != nil {
		panic(err)
	}
	return m
}

type player struct {
	script        []byte
	machine, twin *Machine
	epoch, now    unit.Instant
	states        map[Ticket]pool.State // as a driver knows them; void ones are Free
	tickets       []Ticket
	out, twinOut  Effects
	bugs          int64
	offered       int64
	steps         int
	reloads       int // of the steps
	err           error
}

// next returns the script's next byte, below n.
func (p *player) next(n int) int {
	if len(p.script) == 0 {
		return 0
	}
	b := p.script[0]
	p.script = p.script[1:]
	return int(b) % n
}

func (p *player) fail(format string, a ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, a...)
	}
}

// retryAfterMost is soon reached: then the calendar is full.
const retryAfterMost = time.Second

func (p *player) config() Config {
	cfg := Config{Name: "app", Seed: uint64(p.next(256))}
	names := []string{"checkout", "search", "analytics"}
	start := p.next(3)
	for i := range 1 + p.next(3) {
		levels := 1 + p.next(3)
		cl := Class{
			Name: names[(start+i)%3],
			Pool: pool.Config{
				Slots: p.next(4), Borrow: p.next(4),
				Latency:  time.Duration(p.next(4)) * 100 * time.Millisecond,
				Service:  time.Duration(p.next(3)) * 50 * time.Millisecond,
				Bound:    p.next(6),
				Order:    pool.Order(p.next(3)),
				WhenFull: pool.WhenFull(p.next(5)),
				MaxAge:   time.Duration(p.next(3)) * 70 * time.Millisecond,
				BlockFor: 30 * time.Millisecond,
				Levels:   levels, RetriesLast: p.next(2) == 1,
				Tenants: pool.TenantConfig{
					Policy:  fair.Policy(p.next(5)),
					Weights: map[string]int{"a": 1 + p.next(4)},
					Ranks:   map[string]int{"b": p.next(3), "c": 0},
					Queue:   p.next(4),
					Keep:    1 + p.next(3),
					Timed:   p.next(2) == 1,
				},
			},
			Deadline:      time.Duration(1+p.next(4)) * 100 * time.Millisecond,
			AdmitHopeless: p.next(2) == 0,
			HoldAtMost:    time.Duration(1+p.next(4)) * 100 * time.Millisecond,
			Streams:       Streams{Most: p.next(4), PerTenant: p.next(3), After: time.Duration(p.next(2)) * 40 * time.Millisecond},
			RetryAfterMax: retryAfterMost,
			Mode:          Mode{Kind: ModeKind(max(p.next(8)-4, 0)), Share: 500_000},
			Call:          Call{Timeout: time.Duration(p.next(3)) * 60 * time.Millisecond, Cancel: p.next(2) == 1},
		}
		if p.next(2) == 1 {
			cl.Pool.MemoryLimit, cl.Pool.PerRequest = 1000, 100
		}
		if p.next(4) == 0 {
			cl.Clients = p.rule()
		}
		if p.next(3) == 0 {
			cl.Shed = &shed.Rule{Span: time.Duration(1+p.next(3)) * 100 * time.Millisecond, Release: p.next(4) * 100_000, Sessions: 4 << p.next(3)}
		}
		p.quotas(&cl)
		cfg.Classes = append(cfg.Classes, cl)
	}
	if p.next(2) == 0 {
		cfg.Clients, cfg.ClientsKept = *p.rule(), 4<<p.next(3)
	}
	if p.next(3) == 0 {
		cfg.Limit = limit.Config{Law: limit.Law(1 + p.next(5)), Start: p.next(6), Floor: p.next(3), Ceiling: p.next(20), Seed: cfg.Seed}
		cfg.Limit.Ceiling = max(cfg.Limit.Ceiling, cfg.Limit.Floor)
		for i := range cfg.Classes {
			cfg.Classes[i].Floor = p.next(1 + cfg.Classes[i].Pool.Slots)
		}
	}
	return cfg
}

func (p *player) rule() *rate.Rule {
	return &rate.Rule{Burst: int64(p.next(4)), Interval: time.Duration(p.next(4)) * 50 * time.Millisecond, Concurrent: int32(p.next(4))}
}

// step is one event: what it is, for whom, and how much later.
func (p *player) step() {
	what := p.next(23)
	p.elapse()
	at := p.now
	p.event(func(m *Machine, out *Effects) { m.Advance(at, out) }, nil)
	if p.next(16) == 0 { // a clock that runs backwards changes nothing
		p.both(func(m *Machine, out *Effects) { m.Advance(p.now, out) })
		at -= unit.Instant(p.next(256)) << 20
	}
	switch what {
	default:
		r := p.request(at)
		for range 1 + p.next(3)*p.next(3) { // as it comes, or again at once
			p.offer(at, r)
		}
	case 7, 8, 9:
		p.done(at)
	case 10:
		t := p.ticket()
		p.both(func(m *Machine, out *Effects) { m.Leave(at, t, out) })
		p.end(t)
	case 11:
		t := p.ticket()
		why := reason.Reason(p.next(reason.Count))
		p.both(func(m *Machine, out *Effects) { m.Abandon(at, t, why, out) })
		if p.states[t] == pool.Running {
			p.states[t] = pool.Abandoned
		}
	case 12:
		t := p.ticket()
		p.both(func(m *Machine, out *Effects) { m.Answered(at, t, out) })
	case 15:
		t := p.ticket()
		p.both(func(m *Machine, out *Effects) { m.Linger(at, t, out) })
	case 13:
		if p.next(8) == 0 {
			p.both(func(m *Machine, out *Effects) { m.Drain(at, out) })
		}
	case 17, 18:
		p.reserved(at)
	case 19:
		p.notReserved(at)
	case 20, 21:
		p.settled(at)
	case 16:
		class, o := p.next(p.machine.Classes()), Operation{OperatorMode(p.next(3)), at.Add(time.Duration(p.next(256)-20) * time.Millisecond)}
		if p.next(3) > 0 {
			o.Mode = AsConfigured // or nothing else would happen any more
		}
		p.both(func(m *Machine, out *Effects) { m.Operate(at, class, o, out) })
	case 22:
		level := [...]float64{-1, 0.5, 0.95, 1.2, 3, 1000}[p.next(6)]
		p.both(func(m *Machine, out *Effects) { m.Press(at, level, out) })
	case 14:
		cfg := p.config()
		if cfg.Validate() != nil { // then it is not an event
			if p.machine.Reconfigure(at, cfg, &p.out) == nil {
				p.fail("took %+v", cfg)
			}
			return
		}
		p.reloads++
		p.both(func(m *Machine, out *Effects) {
			if err := m.Reconfigure(at, cfg, out); err != nil {
				p.fail("reconfigure: %v", err)
			}
		})
	}
}

func (p *player) elapse() {
	switch p.next(4) {
	case 0: // the same instant
	case 1:
		p.now += unit.Instant(p.next(256)) * unit.Instant(time.Millisecond)
	case 2:
		p.now += unit.Instant(p.next(16)) * unit.Instant(time.Millisecond)
	case 3:
		if next := p.machine.Next(); next != unit.Never {
			p.now = max(p.now, next)
		}
	}
}

func (p *player) ticket() Ticket {
	if len(p.tickets) == 0 {
		return 0
	}
	// Mostly one of the last few, sometimes one that is long void.
	back := p.next(12)
	if back == 11 {
		back = p.next(256)
	}
	return p.tickets[max(0, len(p.tickets)-1-back)]
}

func (p *player) request(at unit.Instant) Request {
	r := Request{
		Class:      p.next(p.machine.Classes()),
		Tenant:     []string{"", "a", "b", "c", "d", "e"}[p.next(6)],
		Importance: p.next(6) - 1, Retry: p.next(2) == 1,
		Client: rate.Key(p.next(6)), Refuse: []reason.Reason{0, reason.Unauthorized}[p.next(16)/15],
		Cost:  []unit.Cost{0, 1, 10, -5, 1 << 62}[p.next(5)],
		Bytes: []int64{0, 10, 400, 2000, -7, 1<<63 - 1}[p.next(6)],
	}
	r.Session, r.Stretch = uint64(p.next(4)), uint64(p.next(3))
	r.Gap, r.Kept = []shed.Gap{0, 100_000, 500_000, shed.Useless, -5, 1 << 30}[p.next(6)], p.next(4) == 0
	if p.next(3) > 0 {
		r.Ask = &quota.Ask{Amounts: quota.Amounts{
			quota.Requests: 1, quota.Tokens: []int64{0, 1, 40, 200, 1 << 60, -3}[p.next(6)], quota.Concurrent: int64(p.next(2)),
		}}
	}
	switch p.next(4) {
	case 0:
		r.Deadline = at.Add(time.Duration(p.next(256)-20) * time.Millisecond)
	case 1:
		r.Deadline = []unit.Instant{-1, 1, unit.Never, -1 << 63}[p.next(4)]
	}
	return r
}

func (p *player) offer(at unit.Instant, r Request) {
	p.offered++
	var v [2]Verdict
	p.event(func(m *Machine, out *Effects) {
		m.changes++ // so that no refusal stands
		v[0] = m.Offer(at, &r, out)
	}, func(m *Machine, out *Effects) { v[1] = m.Offer(at, &r, out) })
	if v[0] != v[1] {
		p.fail("verdict %v, the twin says %v", v[0], v[1])
	}
	switch v[0].Kind {
	case Run, Wait, Reserve:
		if p.states[v[0].Ticket] != pool.Free || v[0].Ticket == 0 {
			p.fail("ticket %v is handed out twice", v[0].Ticket)
		}
		p.states[v[0].Ticket] = pool.Waiting
		if v[0].Kind == Run {
			p.states[v[0].Ticket] = pool.Running
		}
		if v[0].Kind == Reserve {
			p.states[v[0].Ticket] = pool.Reserving
		}
		p.tickets = append(p.tickets, v[0].Ticket)
	case Refuse:
		final := v[0].Reason == reason.Unauthorized || v[0].Reason == reason.TooLarge
		if v[0].Reason == reason.None || v[0].RetryAfter <= 0 != final || v[0].RetryAfter > retryAfterMost && !isQuota(v[0].Reason) && p.machine.classes[r.Class].RetryAfterMax == retryAfterMost {
			p.fail("refused: %v", v[0])
		}
	default:
		p.fail("an offer was answered with %v", v[0])
	}
}

func (p *player) done(at unit.Instant) {
	t := p.ticket()
	o := Outcome{Reason: reason.Reason(p.next(reason.Count)), Cost: []unit.Cost{0, 1, 30, -1, 1 << 62}[p.next(5)]}
	holds := p.states[t] == pool.Running || p.states[t] == pool.Abandoned
	if !holds {
		p.bugs++
	}
	p.both(func(m *Machine, out *Effects) { m.Done(at, t, o, out) })
	if holds {
		p.end(t)
	}
}

// end notes that the driver has ended the request, if it could.
func (p *player) end(t Ticket) { p.states[t] = pool.Free }

// both applies an event to both machines.
func (p *player) both(f func(*Machine, *Effects)) { p.event(f, f) }

// event applies an event to the machine, and one to its twin, and holds the
// effects against what can be, and the machines against each other once both
// have seen the same.
func (p *player) event(f, g func(*Machine, *Effects)) {
	if p.err != nil {
		return
	}
	p.out.Reset()
	f(p.machine, &p.out)
	for _, e := range p.out.List {
		p.effect(e)
	}
	if err := p.machine.Check(); err != nil {
		p.fail("%w", err)
	}
	if p.machine.Bugs() != p.bugs {
		p.fail("%d bugs were counted, %d were caused", p.machine.Bugs(), p.bugs)
	}
	p.twinOut.List = append(p.twinOut.List, p.out.List...)
	if g == nil {
		return
	}
	var out Effects
	g(p.twin, &out)
	if len(out.List)+len(p.twinOut.List) > 0 && !reflect.DeepEqual(out.List, p.twinOut.List) {
		p.fail("effects %v, the twin has %v", p.twinOut.List, out.List)
	}
	p.twinOut.Reset()
	for i := range p.machine.Classes() {
		if a, b := p.machine.Class(i), p.twin.Class(i); !reflect.DeepEqual(a, b) {
			p.fail("class is %+v, its twin %+v", a, b)
		}
	}
}

// effect holds an effect against the state it is possible in.
func (p *player) effect(e Effect) {
	from := map[Kind]pool.State{Run: pool.Waiting, Refuse: pool.Waiting, Overdue: pool.Running, Released: pool.Abandoned, Entered: pool.Waiting, Reserve: pool.Waiting}
	to := map[Kind]pool.State{Run: pool.Running, Refuse: pool.Free, Overdue: pool.Abandoned, Released: pool.Free, Entered: pool.Waiting, Reserve: pool.Reserving}
	s, ok := p.states[e.Ticket]
	if reserving := s == pool.Reserving && (e.Kind == Run || e.Kind == Refuse); !ok || s != from[e.Kind] && !reserving {
		p.fail("effect %v for a request that is %v", e, s)
	}
	if e.Kind == Refuse && e.Reason == reason.None {
		p.fail("refused without a reason: %v", e)
	}
	p.states[e.Ticket] = to[e.Kind]
}

// heal ends all work and lets time pass: nobody may be left.
func (p *player) heal() {
	for range 2 {
		for i := 0; i < len(p.tickets) && p.err == nil; i++ {
			t := p.tickets[i]
			if p.states[t] == pool.Reserving {
				p.both(func(m *Machine, out *Effects) { m.Reserved(p.now, t, out) })
			}
			if s := p.states[t]; s == pool.Running || s == pool.Abandoned {
				p.both(func(m *Machine, out *Effects) { m.Done(p.now, t, Outcome{Reason: reason.Served}, out) })
				p.end(t)
			}
		}
		p.now = p.now.Add(10 * time.Minute)
		p.both(func(m *Machine, out *Effects) { m.Advance(p.now, out) })
	}
	if p.err != nil {
		return
	}
	var sum int64
	for i := range p.machine.Classes() {
		s := p.machine.Class(i)
		if s.Used != 0 || s.Waiting != 0 || s.Blocked != 0 || s.Tally.Running != 0 {
			p.fail("when all has ended, class %s is %+v", s.Name, s)
		}
		sum += s.Tally.Offered
		if c := p.machine.classes[i]; c.closed && c.Own() != 0 {
			p.fail("class %s is gone and drained, and keeps %d slots", s.Name, c.Own())
		}
	}
	if sum != p.offered {
		p.fail("%d requests were offered, %d are accounted for", p.offered, sum)
	}
}
