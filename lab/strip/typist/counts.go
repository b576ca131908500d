package typist

import (
	"cmp"
	"slices"
)

// counts are how often words and pairs of words were used.
type counts struct {
	words map[ID]int64
	after map[ID]map[ID]int64
	total int64

	// Once they are closed: the words, most used first, below each prefix of up to
	// prefixMost letters, and after each word.
	below     map[string][]use
	all       map[string]int64 // below each such prefix, how often
	following map[ID][]use
	sums      map[ID]int64 // of pairs, by their first
}

// use is a word and how often it was used.
type use struct {
	word ID
	n    int64
}

// kept is how many words below a prefix can be candidates: a mixture's first three
// are among the first few of its parts.
const kept = 12

// prefixMost letters say nearly which word it is; longer prefixes are looked up below
// their beginning.
const prefixMost = 8

func newCounts() *counts {
	return &counts{words: map[ID]int64{}, after: map[ID]map[ID]int64{}}
}

// add counts a word after another, which may be None.
func (c *counts) add(before, word ID, n int64) {
	c.words[word] += n
	c.total += n
	pairs := c.after[before]
	if pairs == nil {
		pairs = map[ID]int64{}
		c.after[before] = pairs
	}
	pairs[word] += n
}

// close makes the tables that are asked.
func (c *counts) close(l *Lexicon) {
	c.below, c.all = map[string][]use{}, map[string]int64{}
	for _, u := range sorted(c.words) {
		word := l.words[u.word]
		for k := 0; k <= min(len(word), prefixMost); k++ {
			p := word[:k]
			c.all[p] += u.n
			if k == prefixMost || len(c.below[p]) < kept {
				c.below[p] = append(c.below[p], u)
			}
		}
	}
	c.following = make(map[ID][]use, len(c.after))
	c.sums = make(map[ID]int64, len(c.after))
	for before, pairs := range c.after { // order does not matter: each by itself
		c.following[before] = sorted(pairs)
		for _, u := range c.following[before] {
			c.sums[before] += u.n
		}
	}
}

// sorted lists words, most used first, of equal ones the first in the alphabet.
func sorted(words map[ID]int64) []use {
	all := make([]use, 0, len(words))
	for w, n := range words { // order does not matter: they are sorted
		all = append(all, use{w, n})
	}
	slices.SortFunc(all, func(a, b use) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.word, b.word)) })
	return all
}

// candidates calls f for the most used of the words from .. to, which have the prefix,
// and of those among them that followed; until f says that it is enough.
func (c *counts) candidates(before ID, prefix string, from, to ID, f func(ID) bool) {
	for _, uses := range [...][]use{c.below[prefix[:min(len(prefix), prefixMost)]], c.following[before]} {
		n := 0
		for _, u := range uses {
			if u.word < from || u.word >= to {
				continue
			}
			if !f(u.word) {
				return
			}
			if n++; n == kept {
				break
			}
		}
	}
}

// shares are a word's parts of all words and of those after another.
func (c *counts) shares(before, word ID) (ofWords, ofPairs float64) {
	if c.total > 0 {
		ofWords = float64(c.words[word]) / float64(c.total)
	}
	if sum := c.sums[before]; sum > 0 {
		ofPairs = float64(c.after[before][word]) / float64(sum)
	}
	return ofWords, ofPairs
}
