package ap

import "github.com/spillway-dev/spillway/report"

// Result is what Run finds. A lab's JSON has the two under these names.
type Result struct {
	Ranking *Facts           `json:"ap_ranking"`
	Arms    map[string]*Cost `json:"ap"`
	// Order is the arms' order.
	Order []string `json:"-"`
}

// Facts are what is known of a ranking before any arm is priced.
type Facts struct {
	Events    string `json:"events"` // the file's name or the drawn shop's
	Columns   string `json:"columns"`
	Seed      uint64 `json:"seed"`
	Models    int    `json:"models"`
	Resamples int    `json:"resamples"`

	Customers       int    `json:"customers"`
	Orders          int    `json:"orders"`
	Returns         int    `json:"returns"`
	WithoutCustomer int    `json:"rows_without_customer"`
	WithoutWorth    int    `json:"rows_of_amount_zero"`
	Span            string `json:"span"`

	CutoffsTrained int `json:"cutoffs_trained"`
	CutoffsRanked  int `json:"cutoffs_ranked"`
	RowsTrained    int `json:"rows_trained"` // a row is a customer at a cutoff
	RowsRanked     int `json:"rows_ranked"`

	BuyersTrained report.Number `json:"buyers_trained_share"` // the default
	BuyersRanked  report.Number `json:"buyers_ranked_share"`
	// NewShare is the share of ranked rows without a score of last month.
	NewShare report.Number `json:"new_share"`

	// Live is the average precision with every score today's; ByCutoff that of
	// each cutoff, oldest first, null where nobody bought.
	Live     report.Number   `json:"live"`
	ByCutoff []report.Number `json:"live_by_cutoff"`
	// OneModel is that of the worst and the best of the models by itself.
	OneModel [2]report.Number `json:"live_one_model"`
	// ByLastOrder ranks by the days since the last order alone.
	ByLastOrder report.Number `json:"by_last_order"`
	// Everybody is the cost if every answer were a stand-in.
	Everybody *Cost `json:"everybody"`
}

// Cost is what the stand-ins of an arm cost.
type Cost struct {
	StandInShare report.Number `json:"stand_in_share"` // of requests
	Requests     int           `json:"requests"`
	StandIns     int           `json:"stand_ins"`
	// RowShare is the share of ranked rows that met a stand-in: the same as of
	// requests but for what is dealt twice.
	RowShare report.Number `json:"row_share"`

	Live      report.Number `json:"live"`
	LastKnown Change        `json:"last_known"`
	Default   Change        `json:"default"`
	None      Change        `json:"none"`
}

// Change is how one stand-in changes the average precision. Delta below zero is
// a loss.
type Change struct {
	AP    report.Number `json:"ap"`
	Delta report.Number `json:"delta"`
	Low   report.Number `json:"low"` // ends of the 95 % range
	High  report.Number `json:"high"`
	// Verdict is one of the words below.
	Verdict string `json:"verdict"`
	// LargestLoss is the largest that the range does not exclude, 0 or more.
	LargestLoss report.Number `json:"largest_loss_not_excluded"`
}

// The verdicts.
const (
	TooClose  = "too close to call" // the range holds zero
	Costs     = "costs"             // it lies below zero
	Gains     = "gains"             // it lies above zero
	NoStandIn = "no stand-in"       // nothing was put in place of anything
)

func changeOf(live, with float64, deltas []float64) Change {
	low, high := middle(deltas)
	c := Change{
		AP: report.Number(with), Delta: report.Number(with - live), Low: report.Number(low), High: report.Number(high),
		Verdict: TooClose, LargestLoss: report.Number(max(0, -low)),
	}
	switch {
	case high < 0:
		c.Verdict = Costs
	case low > 0:
		c.Verdict = Gains
	}
	return c
}
