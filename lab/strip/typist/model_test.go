package typist

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// learn is a model of what two writers wrote, a sentence each of these.
func learn(t testing.TB, of ...string) *Model {
	t.Helper()
	var words []string
	for _, s := range of {
		words = append(words, strings.Fields(s)[1:]...)
	}
	l := NewLexicon(words)
	var all []Sentence
	for _, s := range of {
		f := strings.Fields(s)
		one := Sentence{Writer: int(f[0][0] - '0')}
		for _, w := range f[1:] {
			one.Words = append(one.Words, l.ID(w))
		}
		all = append(all, one)
	}
	return Learn(l, 2, all, nil)
}

// Each writer is suggested its own words; the list gives all the same.
func TestAWriterIsSuggestedItsOwnWords(t *testing.T) {
	m := learn(t, "0 see you tomorrow", "0 see you tomorrow", "1 see you tonight", "1 see you tonight", "1 see you today", "1 see you then", "1 see you there", "1 to to to to", "1 the the the the the")
	you, tomorrow, tonight := m.Lexicon.ID("you"), m.Lexicon.ID("tomorrow"), m.Lexicon.ID("tonight")
	for _, c := range []struct {
		writer int
		word   ID
		prefix string
		want   bool
	}{
		{0, tomorrow, "", true},   // all that it ever wrote after you
		{0, tomorrow, "to", true}, // among others' words too
		{1, tomorrow, "t", false}, // four of its own come first
		{1, tonight, "t", true},
		{0, tomorrow, "tod", false}, // it does not begin like that
		{0, None, "", false},
	} {
		if got := m.Personal(c.writer, you, c.word, c.prefix); got != c.want {
			t.Errorf("writer %d, %d after %q: %v, want %v", c.writer, c.word, c.prefix, got, c.want)
		}
	}
	if m.Listed(tonight, "t") || !m.Listed(tomorrow, "tom") || !m.Listed(m.Lexicon.ID("the"), "t") {
		t.Error("the list has the most used words first")
	}
	if n := m.Knows(1, you); n != 5 {
		t.Errorf("writer 1 has gone on from you %d times, want 5", n)
	}
	if s := m.Sure("tom"); s != 1 {
		t.Errorf("all that begins with tom is tomorrow: %v", s)
	}
}

// Three words at the most are suggested, of which each begins as what is typed, by
// model and list alike.
func TestThreeWordsAreSuggestedAtMost(t *testing.T) {
	letters := rapid.StringMatching(`[ab]{1,4}`)
	rapid.Check(t, func(t *rapid.T) {
		var sentences []string
		for range rapid.IntRange(1, 12).Draw(t, "sentences") {
			sentences = append(sentences, rapid.SampledFrom([]string{"0 ", "1 "}).Draw(t, "writer")+strings.Join(rapid.SliceOfN(letters, 1, 6).Draw(t, "words"), " "))
		}
		m := learn(&testing.T{}, sentences...)
		prefix := rapid.StringMatching(`[ab]{0,3}`).Draw(t, "prefix")
		before := ID(rapid.IntRange(-1, len(m.Lexicon.words)-1).Draw(t, "before"))
		for name, says := range map[string]func(ID) bool{
			"the scorer": func(w ID) bool { return m.Personal(0, before, w, prefix) },
			"everybody":  func(w ID) bool { return m.General(before, w, prefix) },
			"the list":   func(w ID) bool { return m.Listed(w, prefix) },
		} {
			n := 0
			for i, word := range m.Lexicon.words {
				if says(ID(i)) {
					n++
					if !strings.HasPrefix(word, prefix) {
						t.Fatalf("%s: %q is suggested after %q", name, word, prefix)
					}
				}
			}
			if begin := slices.ContainsFunc(m.Lexicon.words, func(w string) bool { return strings.HasPrefix(w, prefix) }); n > Suggestions || n == 0 && begin {
				t.Fatalf("%s suggests %d words for %q", name, n, prefix)
			}
		}
	})
}
