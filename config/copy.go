package config

import "strconv"

// Copy is one copy of an upstream. Its URL alone may be written as one word.
type Copy struct {
	URL    Text   `yaml:"url" required:"true" doc:"Where it is, as in url of an upstream."`
	Weight Weight `yaml:"weight" default:"1" min:"0" max:"1000" doc:"How much of the upstream's slots, and of its requests, it gets beside the other copies: one of 2 gets twice as much as one of 1. With resolve: all it is each address's. 0: it ends what it has and gets nothing new; given a weight again, it starts slowly."`
}

func (c *Copy) short() *Text { return &c.URL }

// CopyAt is the configuration of a copy at a URL.
func CopyAt(url string) Copy { return Copy{URL: Literal(url)} }

// Weight is how much a copy gets beside the others; its zero value was not written
// and means 1.
type Weight int

// Rests is a weight of 0 as it is written: the copy gets nothing new.
const Rests Weight = -1

// N is the weight as a number, 0 or more.
func (w Weight) N() int {
	switch {
	case w == 0:
		return 1
	case w < 0:
		return 0
	}
	return int(w)
}

func (w *Weight) parse(tag, text string) error {
	n, err := wholeNumber(tag, text)
	if err != nil {
		return err
	}
	switch {
	case n < 0:
		return bad("give 0 to 1000", "%s is less than nothing", text)
	case n == 0:
		*w = Rests
	default:
		*w = Weight(n)
	}
	return nil
}

func (w Weight) format() string       { return strconv.Itoa(w.N()) }
func (Weight) kind() string           { return wholeKind }
func (w Weight) measure() float64     { return float64(w.N()) }
func (Weight) schema() map[string]any { return map[string]any{"type": "integer"} }

// Copies is the copies of the upstream, whichever key they were written under.
func (u Upstream) Copies() []Copy {
	if u.URL.IsZero() {
		return u.URLs
	}
	return []Copy{{URL: u.URL}}
}

// Weights is the weights of the copies, in order.
func (u Upstream) Weights() []int {
	all := make([]int, 0, len(u.URLs))
	for _, c := range u.Copies() {
		all = append(all, c.Weight.N())
	}
	return all
}

// elsewhere is the upstream wherever its copies are: their addresses are left out,
// and how many there are; if they do not all weigh the same, what they weigh is not.
func (u Upstream) elsewhere() Upstream {
	urls := u.URLs
	u.URL, u.URLs = Text{}, nil
	for i := range urls {
		if urls[i].Weight.N() == 1 {
			continue
		}
		u.URLs = make([]Copy, len(urls))
		for j := range urls {
			u.URLs[j].Weight = urls[j].Weight
		}
		break
	}
	return u
}
