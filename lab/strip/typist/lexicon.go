package typist

import (
	"slices"
	"strings"
)

// ID is a word's number: its place among all words in alphabetical order, so that
// the words with a prefix are a range.
type ID int32

// None is no word: what is not known, or the beginning of a sentence.
const None ID = -1

// Lexicon numbers words.
type Lexicon struct {
	words []string
	index map[string]ID
}

// NewLexicon numbers these words, which may come more than once.
func NewLexicon(words []string) *Lexicon {
	l := &Lexicon{words: slices.Clone(words)}
	slices.Sort(l.words)
	l.words = slices.Compact(l.words)
	l.index = make(map[string]ID, len(l.words))
	for i, w := range l.words {
		l.index[w] = ID(i)
	}
	return l
}

// ID returns a word's number, or None.
func (l *Lexicon) ID(word string) ID {
	if id, known := l.index[word]; known {
		return id
	}
	return None
}

// Word returns the word with that number.
func (l *Lexicon) Word(id ID) string { return l.words[id] }

// Range returns the words with that prefix: from, and the first after them.
func (l *Lexicon) Range(prefix string) (from, to ID) {
	if prefix == "" {
		return 0, ID(len(l.words))
	}
	i, _ := slices.BinarySearch(l.words, prefix)
	j, _ := slices.BinarySearchFunc(l.words, prefix, func(word, prefix string) int {
		if strings.HasPrefix(word, prefix) {
			return -1
		}
		return strings.Compare(word, prefix)
	})
	return ID(i), ID(j)
}
