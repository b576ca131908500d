package strip

import (
	"github.com/spillway-dev/spillway/lab/strip/text"
	"github.com/spillway-dev/spillway/lab/strip/typist"
	"github.com/spillway-dev/spillway/policy/shed"
	"github.com/spillway-dev/spillway/report"
)

// stroke is a keystroke: the strip is to be shown for what has been typed of a word.
// The last letter of a word asks for nothing: there is nothing left to suggest.
type stroke struct {
	word    uint16 // of its sentence
	prefix  uint8  // letters typed
	context uint8
	gap     shed.Gap
	primary bool // the word is among the personalised suggestions
	general bool // among those of the model of everybody
	list    bool // among those of the list
}

// prefixes are told apart up to this length; longer ones are alike.
const prefixes = 7

// Contexts are what two look-ups say of a keystroke: how often the writer has gone on
// from the word before, and how much of what begins like this the list's three words
// are.
var Contexts = func() (names [contexts]string) {
	for i := range names {
		names[i] = [...]string{"start", "new", "seldom", "often"}[i/surenesses] + ", list " + [...]string{"unsure", "fair", "sure", "certain"}[i%surenesses]
	}
	return names
}()

const (
	contexts   = 4 * surenesses
	surenesses = 4
	oftenFrom  = 10 // times
	fairFrom   = 0.4
	sureFrom   = 0.7
	certain    = 0.9
)

// row is a line of the gap table.
type row struct{ n, primary, list int64 }

func (r *row) add(o row) {
	r.n += o.n
	r.primary += o.primary
	r.list += o.list
}

func (r row) gap() float64 {
	if r.n == 0 {
		return 0
	}
	return float64(r.primary-r.list) / float64(r.n)
}

// GapRow is a line of the gap table as it is shown.
type GapRow struct {
	PrefixLength int           `json:"prefix_length"`
	Context      string        `json:"context"`
	PrimaryHit   report.Number `json:"primary_hit"`
	ListHit      report.Number `json:"list_hit"`
	Gap          report.Number `json:"gap"`
	Used         report.Number `json:"gap_used"` // with what the length alone says; at least 0
	N            int64         `json:"n"`
}

// material is what an experiment is made of.
type material struct {
	source  string
	writers [][][]stroke // sentences of each writer, to be typed
	table   [prefixes + 1][contexts]row
	lengths [prefixes + 1]row // by length alone

	strokes, sentences int // to be typed
}

// Parts of a writer's sentences, in hundredths: to learn from, to measure on; the rest
// is typed. Of the last two no more sentences are taken than make up bounds on
// keystrokes, which are enough for two digits and more.
const (
	learnPart, measurePart = 60, 20
	measureMost            = 60_000
	typeMost               = 60_000
)

func newMaterial(c *text.Corpus) *material {
	m := &material{source: c.Source}
	lexicon := typist.NewLexicon(allWords(c))
	learn, measure, typed := split(c, lexicon)
	more := make(map[typist.ID]int64, len(c.Words))
	for _, w := range c.Words {
		more[lexicon.ID(w.Text)] = w.Count / listShare
	}
	model := typist.Learn(lexicon, len(c.Writers), learn, more)
	m.measure(model, measure)
	m.writers = make([][][]stroke, len(c.Writers))
	for _, s := range typed {
		if strokes := m.gauge(strokesOf(model, s)); len(strokes) > 0 {
			m.writers[s.Writer] = append(m.writers[s.Writer], strokes)
			m.strokes += len(strokes)
			m.sentences++
		}
	}
	m.drop()
	return m
}

// listShare of the counts in a list of words are added to what was counted: it knows
// rare words, the text its own common ones.
const listShare = 100_000

// drop leaves out writers who have nothing to type.
func (m *material) drop() {
	kept := m.writers[:0]
	for _, w := range m.writers {
		if len(w) > 0 {
			kept = append(kept, w)
		}
	}
	m.writers = kept
}

func allWords(c *text.Corpus) (words []string) {
	for _, w := range c.Writers {
		for _, s := range w.Sentences {
			for _, word := range s {
				if word != "" {
					words = append(words, word)
				}
			}
		}
	}
	for _, w := range c.Words {
		words = append(words, w.Text)
	}
	return words
}

// split cuts each writer's sentences into the three parts. Of the latter two every
// so-manieth sentence is taken.
func split(c *text.Corpus, l *typist.Lexicon) (learn, measure, typed []typist.Sentence) {
	letters := 0
	for i, w := range c.Writers {
		for k, s := range w.Sentences {
			one := typist.Sentence{Writer: i}
			for _, word := range s {
				id := typist.None
				if word != "" {
					id = l.ID(word)
					letters += len(word)
				}
				one.Words = append(one.Words, id)
			}
			switch part := 100 * k / len(w.Sentences); {
			case part < learnPart:
				learn = append(learn, one)
			case part < learnPart+measurePart:
				measure = append(measure, one)
			default:
				typed = append(typed, one)
			}
		}
	}
	measure = thin(measure, 1+letters*measurePart/100/measureMost)
	typed = thin(typed, 1+letters*(100-learnPart-measurePart)/100/typeMost)
	return learn, measure, typed
}

func thin(all []typist.Sentence, every int) []typist.Sentence {
	kept := all[:0]
	for i, s := range all {
		if i%every == 0 {
			kept = append(kept, s)
		}
	}
	return kept
}

// strokesOf asks for each keystroke of a sentence what would be suggested.
func strokesOf(m *typist.Model, s typist.Sentence) (all []stroke) {
	before := typist.None
	for i, word := range s.Words {
		if word != typist.None {
			letters, context := m.Lexicon.Word(word), contextOf(m, s, i, before)
			for k := range len(letters) {
				p := letters[:k]
				all = append(all, stroke{
					word: uint16(i), prefix: uint8(k), context: context*surenesses + sureness(m.Sure(p)),
					primary: m.Personal(s.Writer, before, word, p), general: m.General(before, word, p), list: m.Listed(word, p),
				})
			}
		}
		before = word
	}
	return all
}

func contextOf(m *typist.Model, s typist.Sentence, i int, before typist.ID) uint8 {
	switch known := m.Knows(s.Writer, before); {
	case i == 0:
		return 0
	case before == typist.None || known == 0:
		return 1
	case known < oftenFrom:
		return 2
	}
	return 3
}

func sureness(share float64) uint8 {
	switch {
	case share < fairFrom:
		return 0
	case share < sureFrom:
		return 1
	case share < certain:
		return 2
	}
	return 3
}

// measure fills the gap table.
func (m *material) measure(model *typist.Model, sentences []typist.Sentence) {
	for _, s := range sentences {
		for _, k := range strokesOf(model, s) {
			for _, r := range [...]*row{&m.table[min(k.prefix, prefixes)][k.context], &m.lengths[min(k.prefix, prefixes)]} {
				r.n++
				r.primary += one(k.primary)
				r.list += one(k.list)
			}
		}
	}
}

// weightOfLength is how many keystrokes of the same length a line of the table counts
// beside its own: a line of a few keystrokes says little by itself.
const weightOfLength = 100

// measured is the gap that the table says.
func (m *material) measured(prefix int, context uint8) float64 {
	r := m.table[prefix][context]
	own, all := float64(r.primary-r.list), m.lengths[prefix].gap()
	return (own + float64(weightOfLength*all)) / (float64(r.n) + weightOfLength)
}

// beforeAll is the gap of a word before its first letter.
func (m *material) beforeAll(known uint8) float64 {
	var none, first row
	for sure := range uint8(surenesses) {
		none.add(m.table[0][known+sure])
		first.add(m.table[1][known+sure])
	}
	if none.gap() < first.gap() {
		none.add(first)
	}
	return none.gap()
}

// gauge says of each keystroke what is used as its gap. Along a word it never rises,
// or a session would come back up in the midst of one: before its first letter it is
// what was measured there or, where that is less than with one letter, the mean of
// both; after that the least that has been said.
func (m *material) gauge(strokes []stroke) []stroke {
	for i := range strokes {
		k := &strokes[i]
		if k.prefix == 0 {
			k.gap = shed.GapOf(m.beforeAll(k.context / surenesses * surenesses))
			continue
		}
		k.gap = min(shed.GapOf(m.measured(min(int(k.prefix), prefixes), k.context)), strokes[i-1].gap)
	}
	return strokes
}

func one(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// rows are the gap table as it is shown.
func (m *material) rows() []GapRow {
	rows := []GapRow{}
	for prefix := range m.table {
		for context, name := range Contexts {
			r := m.table[prefix][context]
			if r.n == 0 {
				continue
			}
			rows = append(rows, GapRow{
				PrefixLength: prefix, Context: name, N: r.n,
				PrimaryHit: share(r.primary, r.n), ListHit: share(r.list, r.n), Gap: report.Number(r.gap()),
				Used: report.Number(max(m.measured(prefix, uint8(context)), 0)),
			})
		}
	}
	return rows
}

func share(n, of int64) report.Number {
	if of == 0 {
		return report.None()
	}
	return report.Number(float64(n) / float64(of))
}
