package script_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/policy/fair"
	"github.com/spillway-dev/spillway/policy/pool"
	"github.com/spillway-dev/spillway/policy/quota"
	"github.com/spillway-dev/spillway/sim"
)

// script is what both drivers play.
type script struct {
	config   boundary.Config
	calls    []call // by class
	requests []request
	changes  []change
	notices  bool
}

type call struct {
	timeout       time.Duration
	startDeadline bool
}

type request struct {
	class                       int
	tenant                      string
	at, takes, deadline, leaves time.Duration
	importance                  int
	cost, bytes                 int64
	session                     uint64
}

type change struct {
	at     time.Duration
	drain  bool
	hand   *sim.Operate
	press  *float64
	config boundary.Config
}

func parse(text string) (*script, error) {
	s := &script{config: boundary.Config{Name: "app", Seed: 1, Strict: true}}
	for n, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if err := s.line(strings.Fields(line)); err != nil {
			return nil, fmt.Errorf("line %d: %q: %w", n+1, line, err)
		}
	}
	return s, nil
}

func (s *script) line(words []string) error {
	switch words[0] {
	case "class":
		s.config.Classes = append(s.config.Classes, boundary.Class{Name: words[1]})
		s.calls = append(s.calls, call{})
		i := len(s.calls) - 1
		return each(words[2:], func(key, value string) error { return set(&s.config.Classes[i], &s.calls[i], key, value) })
	case "request":
		r := request{cost: 1}
		err := each(words[1:], func(key, value string) error { return s.setRequest(&r, key, value) })
		s.requests = append(s.requests, r)
		return err
	case "reconfigure":
		from := s.config
		for _, before := range s.changes {
			if !before.drain && before.hand == nil && before.press == nil {
				from = before.config
			}
		}
		c := change{config: from}
		c.config.Classes = append([]boundary.Class(nil), from.Classes...)
		i := s.class(words[2])
		if i < 0 {
			return fmt.Errorf("there is no class %q", words[2])
		}
		c.at = must(time.ParseDuration(strings.TrimPrefix(words[1], "at=")))
		var ignored call
		err := each(words[3:], func(key, value string) error { return set(&c.config.Classes[i], &ignored, key, value) })
		s.changes = append(s.changes, c)
		return err
	case "operate":
		return s.operate(words)
	case "press":
		level, err := strconv.ParseFloat(words[2], 64)
		s.changes = append(s.changes, change{press: &level, at: must(time.ParseDuration(strings.TrimPrefix(words[1], "at=")))})
		return err
	case "drain":
		s.changes = append(s.changes, change{drain: true, at: must(time.ParseDuration(strings.TrimPrefix(words[1], "at=")))})
		return nil
	case "upstream":
		s.notices = words[1] == "notices"
		for i := range s.config.Classes {
			s.config.Classes[i].Call.Cancel = s.notices
		}
		return nil
	}
	return fmt.Errorf("there is no %q", words[0])
}

// operate reads "operate at=1ms CLASS MODE for=10ms".
func (s *script) operate(words []string) error {
	if len(words) != 5 || s.class(words[2]) < 0 {
		return fmt.Errorf("write operate at=1ms CLASS MODE for=10ms")
	}
	mode, err := boundary.ParseOperatorMode(words[3])
	if err != nil {
		return err
	}
	s.changes = append(s.changes, change{
		at:   must(time.ParseDuration(strings.TrimPrefix(words[1], "at="))),
		hand: &sim.Operate{Class: words[2], Mode: mode, For: must(time.ParseDuration(strings.TrimPrefix(words[4], "for=")))},
	})
	return nil
}

func (s *script) class(name string) int {
	for i := range s.config.Classes {
		if s.config.Classes[i].Name == name {
			return i
		}
	}
	return -1
}

// each reads words of key=value.
func each(words []string, f func(key, value string) error) error {
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		if err := f(key, value); err != nil {
			return fmt.Errorf("%s: %w", w, err)
		}
	}
	return nil
}

func set(c *boundary.Class, k *call, key, value string) (err error) {
	d, number := time.Duration(0), 0
	if d, err = time.ParseDuration(value); err != nil {
		number, err = strconv.Atoi(value)
	}
	p := &c.Pool
	switch key {
	case "slots":
		p.Slots = number
	case "borrow":
		p.Borrow = number
	case "bound":
		p.Bound = number
	case "latency":
		p.Latency = d
	case "service":
		p.Service = d
	case "memory":
		p.MemoryLimit = int64(number)
	case "max_age":
		p.MaxAge = d
	case "block":
		p.WhenFull, p.BlockFor = pool.Block, d
	case "levels":
		p.Levels = number
	case "queue":
		p.Tenants.Queue = number
	case "deadline":
		c.Deadline = d
	case "hold_at_most":
		c.HoldAtMost = d
	case "timeout":
		k.timeout, c.Call.Timeout = d, d
	case "quota":
		var q quota.Quota
		q, err = quotaOf(value)
		c.Quotas = append([]quota.Quota(nil), q)
	case "mode":
		c.Mode, err = mode(value)
	case "order":
		p.Order, err = named(value, pool.Adaptive, pool.FIFO, pool.LIFO)
	case "when_full":
		p.WhenFull, err = named(value, pool.Reject, pool.Drop, pool.DropOldest, pool.Displace)
	case "tenants":
		p.Tenants.Policy, err = named(value, fair.Fifo, fair.Priority, fair.RR, fair.WRR, fair.DRR)
	case "weights":
		name, weight, _ := strings.Cut(value, ":")
		p.Tenants.Weights = map[string]int{}
		p.Tenants.Weights[name], err = strconv.Atoi(weight)
	case "feasible":
		c.AdmitHopeless, err = value == "off", nil
	case "start_deadline":
		k.startDeadline, err = value == "on", nil
	default:
		err = fmt.Errorf("there is no such key")
	}
	return err
}

func named[T fmt.Stringer](text string, all ...T) (T, error) {
	for _, v := range all {
		if v.String() == text {
			return v, nil
		}
	}
	return all[0], fmt.Errorf("none of %v", all)
}

// mode reads off, shadow, enforce or a share such as 10%.
func mode(text string) (boundary.Mode, error) {
	for k := boundary.Enforce; k <= boundary.Off; k++ {
		if k.String() == text && k != boundary.Part {
			return boundary.Mode{Kind: k}, nil
		}
	}
	percent, err := strconv.Atoi(strings.TrimSuffix(text, "%"))
	return boundary.Mode{Kind: boundary.Part, Share: percent * 10_000}, err
}

func (s *script) setRequest(r *request, key, value string) (err error) {
	number := func() int64 {
		var n int64
		n, err = strconv.ParseInt(value, 10, 64)
		return n
	}
	switch key {
	case "at":
		r.at, err = time.ParseDuration(value)
	case "takes":
		r.takes, err = time.ParseDuration(value)
	case "deadline":
		r.deadline, err = time.ParseDuration(value)
	case "leaves":
		r.leaves, err = time.ParseDuration(value)
	case "tenant":
		r.tenant = value
	case "importance":
		r.importance = int(number())
	case "cost":
		r.cost = number()
	case "bytes":
		r.bytes = number()
	case "session":
		r.session = uint64(number())
	case "class":
		if r.class = s.class(value); r.class < 0 {
			err = fmt.Errorf("there is no such class")
		}
	default:
		err = fmt.Errorf("there is no such key")
	}
	return err
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestScriptsSayWhatIsWrongWithThem(t *testing.T) {
	for text, want := range map[string]string{
		"class x slots=one":           `line 1: "class x slots=one": slots=one: strconv.Atoi`,
		"class x colour=1":            "there is no such key",
		"\n# prose\nrequest at=soon":  "line 3",
		"class x\nrequest class=y":    "there is no such class",
		"reconfigure at=1ms y":        `there is no class "y"`,
		"jump":                        `there is no "jump"`,
		"class x order=alphabetical":  "none of [adaptive fifo lifo]",
		"class x when_full=overflow":  "none of [reject drop drop_oldest displace]",
		"class x tenants=whoever":     "none of [fifo priority rr wrr drr]",
		"class x\nrequest colour=red": "there is no such key",
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, want %q in it", text, err, want)
		}
	}
}
