package fallback

import "fmt"

// The experiment's own figures.
const (
	slots   = 16
	senders = 64
	restMs  = 1.9
	limit   = 25.0 // ms
	kept    = 2.0  // ms of a deadline, for answering
	hedge   = 10.0 // ms
	budget  = "10%"
)

// Base is an arm that waits as long as it takes, to be changed.
func Base(o *Options, name, does string) Setting {
	s := Setting{
		Name: name, Does: does, Waits: name[:1], Rate: 300, Slots: slots, Copies: 1, Seconds: o.Seconds, Senders: senders, RestMs: restMs,
		Budget: BudgetOff, Otherwise: "error", BusyFactor: 1,
	}
	if name[1] == '4' {
		s.Rate = 450
	}
	return s
}

// change is one thing that an arm does.
type change func(*Setting)

// The changes.
var (
	limited = func(at float64) change { return func(s *Setting) { s.LimitMs = at } }
	standIn = change(func(s *Setting) { s.LimitMs, s.Otherwise = limit, "stand_in" })
	total   = change(func(s *Setting) { s.LimitMs, s.DeadlineMs, s.ReserveMs, s.Otherwise = 0, limit, kept, "stand_in" })
	down    = change(func(s *Setting) { s.Travels = true })
	retry   = change(func(s *Setting) { s.Retries = 2 })
	pause   = change(func(s *Setting) { s.PauseMs = 10 })
	jitter  = change(func(s *Setting) { s.Jitter = true })
	b10     = change(func(s *Setting) { s.Budget = budget })
	tokens  = change(func(s *Setting) { s.Budget = BudgetTokens })
	hedged  = change(func(s *Setting) { s.HedgeMs = hedge })
	always  = change(func(s *Setting) { s.HedgeAlways = true })
	breaker = change(func(s *Setting) { s.Breaker = true })
	guarded = change(func(s *Setting) { s.Guarded, s.Deaf, s.Travels = true, true, true })
	stops   = change(func(s *Setting) { s.Deaf = false })
	busy    = change(func(s *Setting) { s.BusyEveryS, s.BusyMs, s.BusyFactor = 4, 400, 20 })
	slowOne = change(func(s *Setting) { s.SlowCustomer = 0.01 })
	// within is a deadline that three tries fit into.
	within = change(func(s *Setting) { s.DeadlineMs, s.ReserveMs = 3*limit+kept, kept })
	halves = change(func(s *Setting) { s.Slots, s.Copies = slots/2, 2 })
	at1    = change(func(s *Setting) { s.BusyTogether = true })
)

// Arms returns every arm, in the order of the table.
func Arms(o *Options) []Setting {
	var arms []Setting
	arm := func(name, does string, changes ...change) {
		s := Base(o, name, does)
		for _, c := range changes {
			c(&s)
		}
		arms = append(arms, s)
	}
	arm("F3-none", "waits as long as it takes")
	arm("L3-none", "waits as long as it takes")
	arm("H3-none", "waits as long as it takes")
	for _, at := range []float64{10, 25, 50, 100} {
		arm(fmt.Sprintf("H3-t%.0f", at), fmt.Sprintf("a limit of %.0f ms, then an error", at), limited(at))
	}
	arm("H3-fb25", "a limit of 25 ms, then a stand-in", standIn)
	arm("H3-fb23", "a limit of 23 ms, then a stand-in", standIn, limited(limit-kept))
	arm("H3-dl", "one deadline of 25 ms, of which 2 are kept back", total)
	arm("H3-dldown", "that deadline goes along; the store stops at it", total, down)
	arm("H3-r2", "fb25 with up to two retries, at once", standIn, retry)
	arm("H3-r2b", "the same, after 10, then 20 ms", standIn, retry, pause)
	arm("H3-r2bj", "the same, after up to 10, then 20 ms, drawn evenly", standIn, retry, pause, jitter)
	arm("H3-hedge", "fb25 with a second ask after 10 ms", standIn, hedged)
	arm("L3-hedge", "the same", standIn, hedged)
	arm("L3-t25", "a limit of 25 ms, then an error", limited(limit))
	arms450(arm)
	armsTogether(arm)
	return arms
}

// arms450 are those at a rate at which the store is well off until one bad second.
func arms450(arm func(name, does string, changes ...change)) {
	arm("H4-fb25", "a limit of 25 ms, then a stand-in", standIn)
	arm("H4-dl", "one deadline of 25 ms, of which 2 are kept back", total)
	arm("H4-dldown", "that deadline goes along; the store stops at it", total, down)
	arm("H4-limitdown", "fb25 whose limit goes along; the store stops at it", standIn, down)
	arm("H4-r2", "up to two retries, at once", standIn, retry)
	arm("H4-r2b", "the same, after 10, then 20 ms", standIn, retry, pause)
	arm("H4-r2bj", "the same, after up to 10, then 20 ms, drawn evenly", standIn, retry, pause, jitter)
	arm("H4-r2-b10", "r2, retries at most 10 % of first attempts", standIn, retry, b10)
	arm("H4-r2-tokens", "r2, retries out of a token bucket", standIn, retry, tokens)
	arm("H4-r2-limitdown", "r2; each attempt's limit goes along, the store stops at it", standIn, retry, down)
	arm("H4-r2-limitdown-b10", "the same, with a budget of 10 %", standIn, retry, down, b10)
	arm("H4-r2-dldown", "r2 under one deadline that goes along", total, retry, down)
	arm("H4-r2-dldown-b10", "the same, with a budget of 10 %", total, retry, down, b10)
	arm("H4-hedge", "a second ask after 10 ms, 25 ms in all; none while the store is slow as a whole", standIn, hedged)
	arm("H4-hedge-always", "the same, also while the store is slow as a whole", standIn, hedged, always)
	arm("H4-hedge-b10", "hedge with a budget of 10 %", standIn, hedged, b10)
	arm("H4-hedge-limitdown-b10", "the same; limits go along", standIn, hedged, down, b10)
	arm("H4-r2-hedge-limitdown-b10", "and up to two retries, each from its budget", standIn, retry, hedged, down, b10)
	arm("H4-r2-breaker", "r2 with a breaker: half of 10 s failed", standIn, retry, breaker)
	arm("H4-r2-protected", "r2; spillway in front of the store, which cannot stop a lookup", standIn, retry, guarded)
	arm("H4-r2-protected-stops", "the same; the store stops at the limit", standIn, retry, guarded, stops)
	arm("H4-all", "retries, hedge, budgets, one deadline, limits that go along, breaker, spillway in front of the store", standIn, retry, hedged, b10, breaker, guarded, stops, within)
}

// armsTogether are those in which slowness is not independent from lookup to
// lookup.
func armsTogether(arm func(name, does string, changes ...change)) {
	for _, kind := range []struct {
		name, does string
		changes    []change
	}{
		{"busy", "a busy disk", []change{busy}},
		{"customer", "one slow customer", []change{slowOne}},
		{"apart", "two copies, busy by themselves", []change{busy, halves}},
		{"together", "two copies, busy together", []change{busy, halves, at1}},
	} {
		for _, how := range []struct {
			name    string
			changes []change
		}{
			{"fb25", []change{standIn}},
			{"dldown", []change{total, down}},
			{"r2", []change{standIn, retry}},
			{"r2-limitdown-b10", []change{standIn, retry, down, b10}},
			{"hedge-b10", []change{standIn, hedged, b10}},
			{"all", []change{standIn, retry, hedged, b10, breaker, guarded, stops, within}},
		} {
			arm("L4-"+kind.name+"-"+how.name, kind.does+": "+how.name, append(append([]change{}, kind.changes...), how.changes...)...)
		}
	}
}
