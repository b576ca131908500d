package plan

import (
	"errors"
	"math"
	"strconv"
)

// Plan is the result of [Make]; its JSON is the contract of `spillway plan
// --json`. The maps serve that JSON; nothing is decided by ranging over them.
type Plan struct {
	// Finding is the one sentence to read if only one is read.
	Finding   string                  `json:"finding"`
	Classes   map[string]ClassPlan    `json:"classes"`
	Tenants   map[string]TenantPlan   `json:"tenants"`
	Upstreams map[string]UpstreamPlan `json:"upstreams"`
	Quotas    map[string]QuotaPlan    `json:"quotas"`
	// AmplificationMax is the most calls that one request can become, over all classes.
	AmplificationMax Number   `json:"amplification_max"`
	Figures          []Figure `json:"figures"`
	// Warnings holds every warning, those of the classes included.
	Warnings []string `json:"warnings"`
}

// ClassPlan is the arithmetic of one class.
type ClassPlan struct {
	Slots             int64     `json:"slots"`
	ThroughputPerS    Number    `json:"throughput_per_s"`
	LimitedBy         string    `json:"limited_by"`
	ExpectedPerS      Number    `json:"expected_per_s"`
	AllowedWaitS      Number    `json:"allowed_wait_s"`
	Bound             int       `json:"bound"`
	BoundFrom         BoundFrom `json:"bound_from"`
	RetainedBytes     int64     `json:"retained_bytes"`
	BufferFillS       Number    `json:"buffer_fill_s"` // null: never
	DrainS            Number    `json:"drain_s"`
	BacklogGrowthPerS Number    `json:"backlog_growth_per_s"`
	InSystem          Number    `json:"in_system"`
	// Amplification is the most calls one first try of the outermost caller can
	// become here; SustainedAttempts the calls a request becomes on average when
	// everything fails, after the retry budget.
	Amplification     Number `json:"amplification"`
	SustainedAttempts Number `json:"sustained_attempts"`
	// ProposedTimeoutS is a limit of one try that cuts off no more than the accepted
	// share of calls that would be answered; null where nothing was measured and no
	// service mix is given.
	ProposedTimeoutS Number                `json:"proposed_timeout_s"`
	Tenants          map[string]TenantPlan `json:"tenants"`
	Figures          []Figure              `json:"figures"`
	Warnings         []string              `json:"warnings"`
}

// TenantPlan is what a tenant gets. At the top level a tenant of several classes
// has the sum of its shares and the longest of its waits.
type TenantPlan struct {
	SharePerS Number   `json:"share_per_s"`
	WaitS     Number   `json:"wait_s"`
	Figures   []Figure `json:"figures"`
}

// UpstreamPlan is what an upstream sustains and where it tips.
type UpstreamPlan struct {
	SustainablePerS Number `json:"sustainable_per_s"`
	// Below StableBelowPerS it returns by itself after any trigger; from there to
	// MetastableBelowPerS it works until one bad second and is then stuck; from
	// there on the backlog grows without end.
	StableBelowPerS     Number `json:"stable_below_per_s"`
	MetastableBelowPerS Number `json:"metastable_below_per_s"`
	ExpectedPerS        Number `json:"expected_per_s"`
	MeanServiceS        Number `json:"mean_service_s"`
	State               string `json:"state"` // stable, metastable, unstable or unknown
	// StoppingPerS is what it would sustain if it stopped at the deadline
	// that travels to it, StoppingStablePerS what it would return from by itself.
	StoppingPerS       Number `json:"stopping_per_s"`
	StoppingStablePerS Number `json:"stopping_stable_per_s"`
	// LimitS is the shortest that a try of its classes may take.
	LimitS Number `json:"limit_s"`
	// RecoveryS is how long after an outage of OutageS at the expected rate all is
	// answered in time again; RecoveryInOrderS the same for a queue that runs all work
	// in the order in which it came, the dead too. null: never, or not known.
	OutageS          Number   `json:"outage_s"`
	RecoveryS        Number   `json:"recovery_s"`
	RecoveryInOrderS Number   `json:"recovery_in_order_s"`
	Figures          []Figure `json:"figures"`
}

// QuotaPlan is what a quota lets through.
type QuotaPlan struct {
	FeasiblePerS Number `json:"feasible_per_s"`
	// Binding is the constraint with the least rate: requests, tokens, slots,
	// deadline, or none.
	Binding      string   `json:"binding"`
	ExpectedPerS Number   `json:"expected_per_s"`
	Figures      []Figure `json:"figures"`
}

// Figure is one number with what has to be known to read it.
type Figure struct {
	Name       string `json:"name"`
	Value      Number `json:"value"`
	Unit       string `json:"unit"`
	Formula    string `json:"formula"`
	Assumption string `json:"assumption"`
}

// Number is a float64 that JSON can always carry: NaN (cannot be known from what
// was given) and infinities (never, no limit) are null, and null is read as NaN.
type Number float64

// Known reports whether n is an ordinary number.
func (n Number) Known() bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

// MarshalJSON writes the shortest decimal that reads back as n.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.Known() {
		return []byte("null"), nil
	}
	format := byte('f')
	if a := math.Abs(float64(n)); a >= 1e21 || (a > 0 && a < 1e-6) {
		format = 'e'
	}
	return strconv.AppendFloat(nil, float64(n), format, -1, 64), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	f, err := strconv.ParseFloat(string(b), 64)
	*n = Number(f)
	return err
}

// MarshalText writes the word, so that JSON carries it.
func (f BoundFrom) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (f *BoundFrom) UnmarshalText(b []byte) error {
	for i, word := range boundFromText {
		if word == string(b) {
			*f = BoundFrom(i)
			return nil
		}
	}
	return errors.New("bound_from " + strconv.Quote(string(b)) +
		" is not one of latency budget, memory, configured, minimum, maximum")
}

// figures collects the figures of one object; add hands the value back, so that
// a field and its figure are the same number by construction.
type figures []Figure

func (fs *figures) add(name string, value float64, unit, formula, assumption string) Number {
	*fs = append(*fs, Figure{Name: name, Value: Number(value), Unit: unit, Formula: formula, Assumption: assumption})
	return Number(value)
}
