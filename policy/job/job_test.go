package job

import (
	"errors"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/policy/call"
	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/policy/reason"
	"github.com/spillway-dev/spillway/policy/unit"
	"pgregory.net/rapid"
)

const second = unit.Instant(time.Second)

var rules = Rules{Attempts: 3, Backoff: call.Backoff{Base: time.Second, Max: time.Minute, Jitter: call.NoJitter}}

// ended tells a job whose first attempt runs what it has come to.
func ended(j Job, o call.Outcome) Job {
	c := chance.New(1)
	if err := j.End(1, 10*second, o, rules, &c); err != nil {
		panic(err)
	}
	return j
}

// What an attempt has come to, by whether twice is the same as once and by whose job it
// is.
func TestWhatBecomesOfAnAttempt(t *testing.T) {
	for _, c := range []struct {
		result                 call.Result
		once, harmless, inline State
	}{
		{call.OK, Done, Done, Done},
		{call.Refused, Waiting, Waiting, Freed}, // it says that it did nothing
		{call.Unsent, Waiting, Waiting, Freed},  // it was never reached
		{call.Broken, Unknown, Waiting, Unknown},
		{call.Fault, Dead, Waiting, Dead}, // it tried and failed: that is an answer
		{call.Busy, Dead, Waiting, Dead},
		{call.Neutral, Dead, Dead, Dead},
	} {
		run := Job{State: Running, Attempt: 1, Deadline: unit.Never}
		harmless, inline := run, run
		harmless.Harmless, inline.Inline = true, true
		for name, is := range map[string][2]State{
			"once":     {ended(run, call.Outcome{Result: c.result}).State, c.once},
			"harmless": {ended(harmless, call.Outcome{Result: c.result}).State, c.harmless},
			"inline":   {ended(inline, call.Outcome{Result: c.result}).State, c.inline},
		} {
			if is[0] != is[1] {
				t.Errorf("result %d, %s: %v, want %v", c.result, name, is[0], is[1])
			}
		}
	}
}

func TestWhenItIsTriedAgain(t *testing.T) {
	for _, c := range []struct {
		name    string
		attempt int64
		outcome call.Outcome
		by      unit.Instant // its deadline
		want    State
		due     unit.Instant
	}{
		{"after the pause", 1, call.Outcome{Result: call.Unsent}, unit.Never, Waiting, 11 * second},
		{"which doubles", 2, call.Outcome{Result: call.Unsent}, unit.Never, Waiting, 12 * second},
		{"or when the upstream says", 1, call.Outcome{Result: call.Refused, After: time.Minute}, unit.Never, Waiting, 70 * second},
		{"not more often than the rules allow", 3, call.Outcome{Result: call.Unsent}, unit.Never, Dead, 0},
		{"not after its deadline", 1, call.Outcome{Result: call.Unsent}, 11 * second, Dead, 0},
		{"not if the upstream says never", 1, call.Outcome{Result: call.Unsent, Never: true}, unit.Never, Dead, 0},
	} {
		j := Job{State: Running, Attempt: c.attempt, Deadline: c.by}
		luck := chance.New(1)
		if err := j.End(c.attempt, 10*second, c.outcome, rules, &luck); err != nil || j.State != c.want || j.Due != c.due || j.Why != reason.Failed {
			t.Errorf("%s: %v, due %v, %v (%v), want %v, due %v", c.name, j.State, j.Due, j.Why, err, c.want, c.due)
		}
	}
}

// What a crash means at each point.
func TestItsOwnerDies(t *testing.T) {
	for _, c := range []struct {
		name string
		job  Job
		want State
		err  error
	}{
		{"before its start marker: it waits as before", Job{State: Waiting}, Waiting, ErrStale},
		{"after it: nobody knows", Job{State: Running}, Unknown, nil},
		{"after it, and twice is once", Job{State: Running, Harmless: true}, Waiting, nil},
		{"after it, and its caller is gone too", Job{State: Running, Inline: true}, Unknown, nil},
		{"the same, and twice is once: its key is free", Job{State: Running, Inline: true, Harmless: true}, Freed, nil},
		{"when it was over", Job{State: Done}, Done, ErrStale},
		{"when it was unknown already", Job{State: Unknown}, Unknown, ErrStale},
	} {
		c.job.Deadline = unit.Never
		luck := chance.New(1)
		if err := c.job.Lost(0, second, rules, &luck); c.job.State != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %v (%v), want %v (%v)", c.name, c.job.State, err, c.want, c.err)
		}
	}
}

func TestStart(t *testing.T) {
	for _, c := range []struct {
		name    string
		job     Job
		attempt int64
		want    State
		err     error
	}{
		{"its turn", Job{Due: 5 * second, Deadline: 9 * second}, 0, Running, nil},
		{"not due", Job{Due: 6 * second, Deadline: 9 * second}, 0, Waiting, ErrEarly},
		{"its deadline has just passed", Job{Deadline: 5 * second}, 0, Dead, ErrLate},
		{"by somebody who saw it before an attempt of another", Job{Attempt: 1, Deadline: unit.Never}, 0, Waiting, ErrStale},
		{"twice", Job{State: Running, Deadline: unit.Never}, 0, Running, ErrEarly},
		{"what is unknown", Job{State: Unknown, Deadline: unit.Never}, 0, Unknown, ErrEarly},
		{"what was cancelled", Job{State: Cancelled}, 0, Cancelled, ErrOver},
	} {
		if err := c.job.Start(c.attempt, 5*second); c.job.State != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %v (%v), want %v (%v)", c.name, c.job.State, err, c.want, c.err)
		}
	}
}

func TestCancel(t *testing.T) {
	for _, c := range []struct {
		from, want State
		err        error
	}{
		{Waiting, Cancelled, nil}, {Running, Running, nil}, {Unknown, Unknown, ErrUnknown}, {Done, Done, ErrOver}, {Dead, Dead, ErrOver}, {Cancelled, Cancelled, ErrOver},
	} {
		j := Job{State: c.from, Deadline: unit.Never}
		if err := j.Cancel(second); j.State != c.want || !errors.Is(err, c.err) || j.Stop != (c.from == Running) {
			t.Errorf("%v: %v (%v), want %v (%v)", c.from, j.State, err, c.want, c.err)
		}
	}
	stopped := Job{State: Running, Attempt: 1, Stop: true, Deadline: unit.Never}
	if j := ended(stopped, call.Outcome{Result: call.Unsent}); j.State != Cancelled {
		t.Errorf("what would be tried again is %v, want cancelled", j.State)
	}
	if j := ended(stopped, call.Outcome{}); j.State != Done {
		t.Errorf("an answer that came all the same: %v", j.State)
	}
}

func TestEvidence(t *testing.T) {
	unknown := Job{State: Unknown, Attempt: 2, Deadline: unit.Never}
	for _, c := range []struct {
		name       string
		notStarted bool
		job        func(*Job)
		want       State
	}{
		{"it ran", false, func(*Job) {}, Done},
		{"it never ran: it waits", true, func(*Job) {}, Waiting},
		{"it never ran, and was taken back", true, func(j *Job) { j.Stop = true }, Cancelled},
		{"it never ran, and its caller may ask again", true, func(j *Job) { j.Inline = true }, Freed},
	} {
		j := unknown
		c.job(&j)
		if err := j.Resolve(2, second, c.notStarted); err != nil || j.State != c.want {
			t.Errorf("%s: %v (%v), want %v", c.name, j.State, err, c.want)
		}
	}
	j, luck := unknown, chance.New(1)
	if err := j.Resolve(1, second, true); !errors.Is(err, ErrStale) {
		t.Errorf("about an earlier attempt: %v", err)
	}
	if err := j.End(2, second, call.Outcome{Result: call.Unsent}, rules, &luck); !errors.Is(err, ErrUnknown) || j.State != Unknown {
		t.Errorf("what is no answer is no evidence: %v, %v", j.State, err)
	}
	if err := j.End(2, second, call.Outcome{}, rules, &luck); err != nil || j.State != Done {
		t.Errorf("an answer that turned up late: %v, %v", j.State, err)
	}
}

// The fingerprint goes before the state, in every state.
func TestClaims(t *testing.T) {
	for _, c := range []struct {
		state                State
		inline, kept         bool
		same, other, another Claim // another: of a job that nobody waits for
	}{
		{state: Waiting, same: InProgress, other: Conflict, another: Known},
		{state: Running, same: InProgress, other: Conflict, another: Known},
		{state: Unknown, same: Lost, other: Conflict, another: Known},
		{state: Done, same: Gone, other: Conflict, another: Known},
		{state: Done, kept: true, same: Replay, other: Conflict, another: Known},
		{state: Dead, kept: true, same: Replay, other: Conflict, another: Known},
		{state: Freed, same: Free, other: Free, another: Free},
	} {
		inline, job := Job{State: c.state, Inline: true}, Job{State: c.state}
		if got := inline.Claims(true, c.kept); got != c.same {
			t.Errorf("%v, the same again: %v, want %v", c.state, got, c.same)
		}
		if got := inline.Claims(false, c.kept); got != c.other {
			t.Errorf("%v, another body: %v, want %v", c.state, got, c.other)
		}
		if got := job.Claims(true, c.kept); got != c.another {
			t.Errorf("%v, a job: %v, want %v", c.state, got, c.another)
		}
	}
}

func TestRoom(t *testing.T) {
	most, each := Bounds{Jobs: 100, Bytes: 1000}, Bounds{Jobs: 10, Bytes: 200}
	for _, c := range []struct {
		name        string
		all, tenant Line
		want        reason.Reason
	}{
		{"room", Line{Open: 99, Bytes: 990}, Line{Open: 9, Bytes: 190}, reason.None},
		{"a tenant's jobs", Line{Open: 50}, Line{Open: 10}, reason.TenantFull},
		{"a tenant's bytes", Line{Open: 50}, Line{Bytes: 191}, reason.TenantFull},
		{"all jobs", Line{Open: 100}, Line{}, reason.QueueFull},
		{"all bytes", Line{Bytes: 991}, Line{}, reason.QueueBytes},
		{"the tenant's own before all others'", Line{Open: 100}, Line{Open: 10}, reason.TenantFull},
	} {
		if got := Room(c.all, c.tenant, most, each, 10); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if got := Room(Line{Open: 1 << 40, Bytes: 1 << 40}, Line{Open: 1 << 40}, Bounds{}, Bounds{}, 1<<40); got != reason.None {
		t.Errorf("without a bound: %v", got)
	}
}

// Whatever happens in whatever order to a job whose attempts have effects: no attempt is
// started while one before it may have been done, unless twice is the same as once; an
// end is final; and a line counts it for as long as it is open.
func TestNothingIsDoneTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := Job{Deadline: 200 * second, Harmless: rapid.Bool().Draw(t, "harmless"), Inline: rapid.Bool().Draw(t, "inline")}
		luck := chance.New(rapid.Uint64().Draw(t, "seed"))
		line := Line{}.Add(&j, 7, 1)
		now, mayHaveRun := unit.Instant(0), false
		for range 40 {
			now = now.Add(time.Duration(rapid.Int64Range(0, 10e9).Draw(t, "pass")))
			was := j
			line = line.Add(&j, 7, -1)
			attempt := j.Attempt - rapid.Int64Range(0, 1).Draw(t, "stale")
			var err error
			switch rapid.IntRange(0, 5).Draw(t, "event") {
			case 0, 1:
				if err = j.Start(attempt, now); err == nil {
					if mayHaveRun && !j.Harmless {
						t.Fatalf("attempt %d starts although an earlier one may have been done", j.Attempt)
					}
					mayHaveRun = true
				}
			case 2:
				o := call.Outcome{Result: call.Result(rapid.IntRange(0, int(call.Neutral)).Draw(t, "result"))}
				if err = j.End(attempt, now, o, rules, &luck); err == nil && (o.Result == call.Refused || o.Result == call.Unsent) {
					mayHaveRun = false
				}
			case 3:
				err = j.Lost(attempt, now, rules, &luck)
			case 4:
				err = j.Cancel(now)
			case 5:
				notStarted := rapid.Bool().Draw(t, "not started")
				if err = j.Resolve(attempt, now, notStarted); err == nil && notStarted {
					mayHaveRun = false
				}
			}
			line = line.Add(&j, 7, 1)
			switch {
			case err != nil && !errors.Is(err, ErrLate) && j != was:
				t.Fatalf("%v, and it has changed: %+v, %+v", err, was, j)
			case was.State.Final() && j != was:
				t.Fatalf("%v became %v", was.State, j.State)
			case (line.Open == 1) != (!j.State.Final() && !j.Inline), (line.Waiting == 1) != (j.State == Waiting), line.Bytes != 7:
				t.Fatalf("%v, inline %v: %+v", j.State, j.Inline, line)
			}
		}
	})
}

func TestNothingIsAllocated(t *testing.T) {
	luck := chance.New(1)
	if n := testing.AllocsPerRun(100, func() {
		j := Job{Deadline: unit.Never}
		if j.Start(0, 1) != nil || j.End(1, 2, call.Outcome{Result: call.Unsent}, rules, &luck) != nil {
			panic("it was to be tried again")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestNamesOfStates(t *testing.T) {
	for s := Waiting; s < Freed; s++ {
		if got, ok := ParseState(s.String()); !ok || got != s {
			t.Errorf("%v is read as %v", s, got)
		}
	}
	if _, ok := ParseState("freed"); ok {
		t.Error("freed is no state that anybody sees")
	}
}
