package typist

import "slices"

// Model is what is known of everybody and of each writer.
type Model struct {
	Lexicon *Lexicon
	all     *counts
	writers []*counts
	list    *counts
}

// Suggestions is how many words a strip shows.
const Suggestions = 3

// weights of the mixture: of the writer's pairs and words, of everybody's.
const (
	ownPairs, ownWords = 0.4, 0.2
	allPairs, allWords = 0.25, 0.15
)

// Sentence is a writer's, by numbers; None where a word is not known.
type Sentence struct {
	Writer int
	Words  []ID
}

// Learn returns the model of these sentences of so many writers. more counts, by
// word, are what else is known of how often words are used; they are for the list.
func Learn(l *Lexicon, writers int, sentences []Sentence, more map[ID]int64) *Model {
	m := &Model{Lexicon: l, all: newCounts(), list: newCounts()}
	for range writers {
		m.writers = append(m.writers, newCounts())
	}
	for _, s := range sentences {
		before := None
		for _, w := range s.Words {
			if w != None {
				m.all.add(before, w, 1)
				m.writers[s.Writer].add(before, w, 1)
				m.list.add(None, w, 1)
			}
			before = w
		}
	}
	for w, n := range more { // order does not matter: a sum
		m.list.add(None, w, n)
	}
	m.all.close(l)
	m.list.close(l)
	for _, c := range m.writers {
		c.close(l)
	}
	return m
}

// Knows returns how often the writer has used a word before another.
func (m *Model) Knows(writer int, before ID) int64 { return m.writers[writer].sums[before] }

// Personal reports whether the word is among the first suggestions for that writer
// after that word, once the prefix is typed.
func (m *Model) Personal(writer int, before, word ID, prefix string) bool {
	own := m.writers[writer]
	return m.among(before, word, prefix, func(w ID) float64 {
		words, pairs := own.shares(before, w)
		return float64(ownPairs*pairs) + float64(ownWords*words) + m.generally(before, w)
	}, own, m.all)
}

// General is Personal for somebody of whom nothing is known.
func (m *Model) General(before, word ID, prefix string) bool {
	return m.among(before, word, prefix, func(w ID) float64 { return m.generally(before, w) }, m.all)
}

func (m *Model) generally(before, word ID) float64 {
	words, pairs := m.all.shares(before, word)
	return float64(allPairs*pairs) + float64(allWords*words)
}

// among reports whether a word is one of the best, of those that the counts offer.
func (m *Model) among(before, word ID, prefix string, score func(ID) float64, of ...*counts) bool {
	from, to := m.Lexicon.Range(prefix)
	mine := score(word)
	if word < from || word >= to || mine == 0 {
		return false
	}
	var better [Suggestions]ID
	n := 0
	for _, c := range of {
		c.candidates(before, prefix, from, to, func(w ID) bool {
			if w == word || slices.Contains(better[:n], w) {
				return true
			}
			if s := score(w); s > mine || s == mine && w < word {
				better[n] = w
				n++
			}
			return n < Suggestions
		})
		if n == Suggestions {
			return false
		}
	}
	return true
}

// Listed reports whether the word is among the first of the list once the prefix is
// typed.
func (m *Model) Listed(word ID, prefix string) bool {
	from, to := m.Lexicon.Range(prefix)
	n := 0
	for _, u := range m.list.below[prefix[:min(len(prefix), prefixMost)]] {
		if u.word < from || u.word >= to {
			continue
		}
		if u.word == word {
			return true
		}
		if n++; n == Suggestions {
			return false
		}
	}
	return false
}

// Sure returns how much of what begins with the prefix, from 0 to 1, the list's
// suggestions are: a look-up in a table that is the same for everybody.
func (m *Model) Sure(prefix string) float64 {
	p := prefix[:min(len(prefix), prefixMost)]
	n := int64(0)
	for i, u := range m.list.below[p] {
		if i < Suggestions {
			n += u.n
		}
	}
	if n == 0 {
		return 0
	}
	return float64(n) / float64(m.list.all[p])
}
