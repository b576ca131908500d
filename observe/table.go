package observe

import (
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Definition is one row of the table of metrics.
type Definition struct {
	Name   string // without histogram suffixes
	Kind   string // counter, gauge or histogram
	Labels []string
	Help   string
}

// The rows, by what the collector calls them.
var (
	perClass = []string{"resource", "class"}

	offered     = Definition{"spillway_offered_total", "counter", perClass, "Requests offered. Equal to the sum of spillway_answered_total over its reasons, plus spillway_waiting, plus spillway_running."}
	answered    = Definition{"spillway_answered_total", "counter", []string{"resource", "class", "reason", "rung"}, "Requests answered, by the reason and the rung of the answer. A caller that hung up got none: rung none."}
	waiting     = Definition{"spillway_waiting", "gauge", perClass, "Requests that wait for a slot, producers blocked before the waiting room included."}
	blocked     = Definition{"spillway_blocked", "gauge", perClass, "Producers held before a full waiting room; part of spillway_waiting."}
	waitingSize = Definition{"spillway_waiting_bytes", "gauge", perClass, "What waiting requests retain in memory."}
	oldest      = Definition{"spillway_oldest_wait_seconds", "gauge", perClass, "How long the oldest waiting request has waited."}
	running     = Definition{"spillway_running", "gauge", perClass, "Requests whose caller waits or reads. They hold a slot each, but for spillway_streams."}
	streaming   = Definition{"spillway_streams", "gauge", perClass, "Answers that flow without a slot; part of spillway_running."}
	abandoned   = Definition{"spillway_abandoned", "gauge", perClass, "Work that goes on, and holds its slot, although its caller was answered or has gone."}
	slotsUsed   = Definition{"spillway_slots_used", "gauge", perClass, "Slots held: spillway_running without spillway_streams, plus spillway_abandoned."}
	slotsLimit  = Definition{"spillway_slots_limit", "gauge", perClass, "Slots that the class is guaranteed."}
	slotsBorrow = Definition{"spillway_slots_borrow", "gauge", perClass, "Idle slots of other classes that the class may use besides."}
	idleRefused = Definition{"spillway_idle_while_refusing_seconds_total", "counter", perClass, "Slots of the upstream that were idle and that the class might not use, while it refused or let wait for want of one, times seconds: its rate is how many slots that were."}
	utilisation = Definition{"spillway_utilisation_ratio", "gauge", perClass, "Slots held as a part of those guaranteed; above 1 while it borrows."}
	bound       = Definition{"spillway_bound", "gauge", []string{"resource", "class", "from"}, "How many requests may wait, and which rule that figure is from."}
	allowedWait = Definition{"spillway_allowed_wait_seconds", "gauge", perClass, "How long a request may wait and stay inside its budget."}
	holding     = Definition{"spillway_holding_seconds", "gauge", perClass, "Mean time a slot is held, as measured; 0 while too little has been."}
	serviceTime = Definition{"spillway_service_seconds", "gauge", perClass, "What nine of ten calls take, as measured; 0 while too few have been."}
	throughput  = Definition{"spillway_throughput_per_second", "gauge", perClass, "What the slots can serve: slots divided by the holding time."}
	tenants     = Definition{"spillway_tenants", "gauge", perClass, "Tenants remembered: all that wait or run, and some that are idle."}

	tenantOffered = Definition{"spillway_tenant_offered_total", "counter", []string{"resource", "class", "tenant"}, "Requests offered by the tenants that offer most; all others are \"other\"."}
	tenantServed  = Definition{"spillway_tenant_served_total", "counter", []string{"resource", "class", "tenant"}, "Requests of these tenants that got the full answer."}

	queueWait   = Definition{"spillway_queue_wait_seconds", "histogram", perClass, "From offer to slot, of requests that were admitted."}
	firstByte   = Definition{"spillway_first_byte_seconds", "histogram", perClass, "From offer to the first byte of the upstream's answer."}
	malformed   = Definition{"spillway_malformed_deadlines_total", "counter", nil, "Deadline headers that made no sense and were ignored."}
	unroutable  = Definition{"spillway_unroutable_total", "counter", nil, "Requests that no class takes, or whose path two servers could read differently. They are on no class's account."}
	resends     = Definition{"spillway_resends_total", "counter", nil, "Safe requests sent a second time because an idle connection to the upstream turned out to be closed."}
	recorded    = Definition{"spillway_recorded_total", "counter", nil, "Requests written to the recording; 0 where there is none."}
	recordLost  = Definition{"spillway_record_lost_total", "counter", nil, "Requests that are missing in the recording, because its disk was full or slow."}
	bugs        = Definition{"spillway_bugs_total", "counter", []string{"resource"}, "Broken invariants met. Alarm on anything but 0."}
	draining    = Definition{"spillway_draining", "gauge", nil, "1 while nothing new is taken in because the process is about to end."}
	buildInfo   = Definition{"spillway_build_info", "gauge", []string{"version", "goversion"}, "Always 1; what is running."}
	definitions = []*Definition{
		&offered, &answered, &waiting, &blocked, &waitingSize, &oldest, &running, &streaming, &abandoned,
		&slotsUsed, &slotsLimit, &slotsBorrow, &limitNow, &limitFloorBinds, &limitBaseline, &limitLatency, &limitGivenWay, &idleRefused, &utilisation, &bound, &allowedWait, &holding,
		&shedShare, &shedDemand, &shedGap,
		&serviceTime, &throughput, &queueWait, &firstByte, &tenants, &tenantOffered, &tenantServed,
		&malformed, &unroutable, &resends, &recorded, &recordLost, &bugs, &draining, &buildInfo,
		&ready, &operatorLeft, &edgeConnections, &edgeRefused, &edgeLimited,
		&reloads, &reloadGood, &reloadTime, &configDigest,
		&callersKnown, &proofsFailed, &claimsLowered, &callersMalformed, &clientsEarly,
		&jobsWaiting, &jobsOpen, &jobsBytes, &jobsOldest, &jobsAccepted, &jobsReplayed, &jobsStarted, &jobsRefused, &jobsEnded,
		&quotaFree, &quotaMost, &quotaDry, &quotaReserving, &quotaTenants, &quotaTold,
		&copyInFlight, &copyConnections, &copyIn, &copyWeight, &copyBad, &copyPart, &copyCalls,
		&callsBegun, &callsOK, &callAttempts, &callMore, &callHedgeWon, &callOver, &callHeld, &callBudget,
		&callBreaker, &callThrottle, &callHold, &callHedge, &callSlow, &callMedian, &callTail,
		&overrideLeft, &pressureRatio,
		&scaleDemand, &scaleDesired, &scaleRatio, &scaleMeasured,
		&expressionErrors, &gapOutside, &gapSamples, &gapBuckets, &gapLearned,
		&feedbackAnswers, &feedbackJudged, &feedbackScore,
		&enforced, &shadowOffered, &shadowAnswered, &shadowWaiting, &shadowRunning, &shadowUsed,
	}
)

// Table returns every metric of spillway's own, in the order of the page. The
// process's and Go's own metrics come beside them.
func Table() []Definition {
	table := make([]Definition, len(definitions))
	for i, d := range definitions {
		table[i] = *d
	}
	return table
}

func (d *Definition) desc() *prometheus.Desc {
	return prometheus.NewDesc(d.Name, d.Help, d.Labels, nil)
}

// Reference renders the table as docs/reference/metrics.md.
func Reference() string {
	var b strings.Builder
	b.WriteString(`# Metrics

<!-- generated by go generate ./observe; do not edit -->

` + "`GET /metrics`" + ` on the admin listener, in Prometheus' format. Times are in seconds, sizes in bytes, shares from 0 to 1. Histograms have
classic buckets and, for scrapers that ask for them, native ones. The ` + "`go_`" + ` and ` + "`process_`" + ` metrics of the Go client come beside these.

| metric | kind | labels | meaning |
| --- | --- | --- | --- |
`)
	for _, d := range definitions {
		labels := "-"
		if len(d.Labels) > 0 {
			labels = "`" + strings.Join(d.Labels, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", d.Name, d.Kind, labels, d.Help)
	}
	fmt.Fprintf(&b, `
## Labels are bounded

| label | values |
| --- | --- |
| `+"`resource`"+` | the upstreams' names in the configuration |
| `+"`class`"+` | the classes' names |
| `+"`reason`"+` | the closed set of reasons (`+"`docs/reasons/`"+`); those that never happened are left out |
| `+"`rung`"+` | `+"`primary`, `refusal`, `none`"+`, and the cheaper rungs of the configuration |
| `+"`limit`"+` | the keys of `+"`limits`"+` in the configuration that count |
| `+"`from`"+` | which rule gave the bound its value |
| `+"`mode`"+` | `+"`enforce`, `percent`, `shadow`, `off`"+` |
| `+"`copy`"+` | the copies of the configuration, or the addresses that their names have; at most 256 of an upstream |
| `+"`outcome`"+` | `+"`answered`, `busy`, `failed`, `late`"+` |
| `+"`why`"+` | `+"`ejected`, `unhealthy`"+` |
| `+"`kind`"+` | `+"`retry`, `hedge`"+` |
| `+"`by`"+` | `+"`breaker`, `throttle`, `hedge`"+` |
| `+"`state`"+` | `+"`closed`, `open`, `half_open`, `recovering`"+` |
| `+"`source`"+` | `+"`mtls`, `jwt`, `key`, `proxy`, `nobody`"+` |
| `+"`failure`"+` | `+"`malformed`, `algorithm`, `unknown_key`, `signature`, `expired`, `not_yet`, `audience`, `issuer`, `revoked`, `unavailable`"+` |
| `+"`claim`"+` | `+"`class`, `tenant`, `importance`, `deadline`"+` |
| `+"`key`"+` | `+"`match`, `gap`, `by`"+` |
| `+"`came`"+` | `+"`compared`, `no_place`, `unspared`, `unanswered`, `unlike`"+` |
| `+"`known`"+` | `+"`yes`, `no`"+` |
| `+"`bound`"+` | `+"`mean`, `lower`, `upper`, `used`"+` |
| `+"`bucket`"+` | at most %d of a class, escaped and cut as tenants are: the most sampled of those of which enough is known |
| `+"`tenant`"+` | at most %d of a class, escaped and cut to %d bytes, and `+"`other`"+`: a tenant gets a label of its own once it is behind 1 %% of what its class is offered, and keeps it |

However many tenants and paths callers make up, the number of series stays, and so does the size of a scrape: under 1 MiB for a hundred classes.
`, GapsMost, TenantsMost, tenantLabelMax)
	return b.String()
}
