package pool

import "github.com/spillway-dev/spillway/lab"

// What producers do whom the pool refuses, or lets wait until they are gone, and what
// that does to the pool: clients of other makes, then Spillway's own library.

func producerArms(o Options) []Setting {
	arm := func(name, does string, change func(*Stream)) Setting {
		s := base(o, "producers-"+name, does)
		change(&s.Streams[0])
		return s
	}
	three := func(st *Stream) { st.Retries = 3 }
	library := func(st *Stream) {
		st.Library, st.Retries, st.BackoffMs, st.Jitter, st.Budget, st.WithinMs = true, 3, 100, true, 0.1, 2000
	}
	breaker := func(st *Stream) {
		library(st)
		st.BreakerPercent = 50
	}
	naive := func(s Setting) Setting {
		s.Naive = true
		return s
	}
	return []Setting{
		arm("no-retry", "one attempt each", func(*Stream) {}),
		arm("at-once", "three retries, at once", three),
		arm("backoff", "three retries after 100, 200, 400 ms", func(st *Stream) { st.Retries, st.BackoffMs = 3, 100 }),
		arm("jitter", "three retries after up to 100, 200, 400 ms, drawn evenly", func(st *Stream) { st.Retries, st.BackoffMs, st.Jitter = 3, 100, true }),
		arm("budget", "three retries, at once, as long as they are at most 10 % of first attempts", func(st *Stream) { st.Retries, st.Budget = 3, 0.1 }),
		arm("library", "the client library: three retries as jitter has them, within 2 s and a budget of 10 %, and never before they were told to", library),
		arm("breaker", "the same, with a breaker that opens where half of the answers are bad", breaker),
		naive(arm("unprotected", "three retries, at once, in front of a pool without a boundary", three)),
		naive(arm("library-alone", "the client library, in front of a pool without a boundary", library)),
		naive(arm("breaker-alone", "the client library with the breaker, in front of a pool without a boundary", breaker)),
	}
}

// producerPredictions are about a pool under lasting overload of steady work.
func producerPredictions(o Options) []lab.Prediction {
	capacity := o.capacity()
	return []lab.Prediction{
		lab.Expect("producers-at-once", "goodput_per_s", lab.AtLeast, 0.97*capacity, "refusals do not amplify: retries at once take no capacity"),
		lab.Expect("producers-backoff", "goodput_per_s", lab.AtLeast, 0.97*capacity, "nor do retries after a pause"),
		lab.Expect("producers-jitter", "goodput_per_s", lab.AtLeast, 0.97*capacity, "nor do drawn pauses"),
		lab.Expect("producers-budget", "goodput_per_s", lab.AtLeast, 0.97*capacity, "nor does a budget cost any"),
		lab.Expect("producers-unprotected", "goodput_per_s", lab.AtMost, 0.2*capacity, "without a boundary the same producers bring the pool down"),
		lab.Expect("producers-library", "goodput_per_s", lab.AtLeast, 0.97*capacity, "nor does the client library"),
		lab.Against("producers-library", "attempts", lab.AtMost, budgeted(o.Rate*o.Seconds), "producers-no-retry", "whose retries stay within its budget"),
		lab.Against("producers-breaker", "goodput_per_s", lab.AtMost, 0.98, "producers-library", "a breaker is all or nothing: where half is refused it opens, and the pool runs dry before it closes"),
		lab.Expect("producers-library-alone", "goodput_per_s", lab.AtMost, 0.2*capacity, "a budget alone does not save a pool without a boundary: first attempts are too many already"),
		lab.Against("producers-breaker-alone", "goodput_per_s", lab.AtLeast, 2, "producers-library-alone", "there a breaker helps: while it is open the line drains"),
	}
}
