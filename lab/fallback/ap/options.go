package ap

import "fmt"

// Options of the ranking.
type Options struct {
	// Events is a file of purchases, as package purchases reads it; empty: a
	// shop is drawn.
	Events    string
	Seed      uint64
	Models    int // averaged; 1 to 100
	Resamples int // of the bootstrap; 100 to 2,000
}

// Defaults are those of the experiment.
func Defaults() Options { return Options{Seed: 1, Models: 20, Resamples: 1000} }

// Validate returns what is wrong with the options, one line with the fix in it,
// or nil. Whether the file is any good is known when it is read.
func (o *Options) Validate() error {
	switch {
	case o.Models < 1 || o.Models > 100:
		return fmt.Errorf("%d models: it is from 1 to 100", o.Models)
	case o.Resamples < 100 || o.Resamples > 2000:
		return fmt.Errorf("%d resamples: it is from 100 to 2,000", o.Resamples)
	}
	return nil
}

// Arm is what an arm did with its requests.
type Arm struct {
	Name string
	// StandIns says of each request, all rounds one after the other, whether it
	// was answered with a stand-in. Arms of the same number of requests are
	// about the same requests.
	StandIns []bool
}
