// Package report is the one traffic report of spillway: what was offered, who
// was answered in full, who got a cheaper rung, who was refused and why, and
// how long each of them waited. sim, load, demo and every lab fill the same
// [Report], so that a prediction and a measurement can be laid side by side.
//
// A driver owns a [Collector], asks it once for a [Tally] per class and tenant
// and then reports each request three times: [Tally.Offered] when it arrives,
// [Tally.Started] when it gets a slot, [Tally.Done] when its caller has been
// answered. Nothing else is needed for the sums to close:
//
//	offered = the sum over all reasons + waiting + running
//
// holds for every class, tenant and bucket of time by construction, and
// [Report.Check] proves it on the finished document.
//
// Times are integer nanoseconds since the start of the run. Latency is counted
// from the scheduled arrival, never from when a busy tester got round to
// sending. Numbers in a report are rounded to six decimals when written, so
// that the same run gives the same bytes on every machine.
//
// The rooms beside this one draw a report: text for a terminal, html for a
// page that stands alone.
package report
