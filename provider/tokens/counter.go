package tokens

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// What one Counter does at most, in bytes; see the package.
const (
	VisitMost = 128 << 10
	MissMost  = 24 << 10
)

// Counter adds up the texts of one request or answer. It is for one goroutine.
type Counter struct {
	encoding Encoding
	visit    int // bytes that may still be looked at
	miss     int // bytes that may still be counted that are in no table

	tokens  float64
	missed  int64 // bytes that were counted because no table had them
	cost    int64 // tokens of those
	guessed bool
	scratch []byte
}

// Count returns a counter at 0.
func (e Encoding) Count() *Counter {
	return &Counter{encoding: e, visit: VisitMost, miss: MissMost}
}

// block is how much of a long text is looked at in one place, and pieceMost the
// longest piece that is counted as one.
const (
	block     = 2 << 10
	pieceMost = 512
)

// usual is how many tokens a byte is where nothing has been counted: more than
// prose of any language that is written in letters.
const usual = 0.35

// JSON adds the inside of a JSON string as it stands, escapes and all.
func (c *Counter) JSON(raw []byte) {
	if len(raw) <= c.visit {
		c.visit -= len(raw)
		c.tokens += float64(c.add(raw))
		return
	}
	// Blocks of it, evenly spread, stand for all.
	seen, found := 0, 0.0
	if n := c.visit / block; n > 0 {
		for i := range n {
			at := i * (len(raw) - block) / n
			seen += block
			found += c.add(raw[at : at+block])
		}
		c.visit -= n * block
	}
	density := c.density()
	if seen > 0 {
		density = found / float64(seen)
	}
	c.guessed = true
	c.tokens += float64(density*float64(len(raw))) * 1.05
}

// Text adds a text.
func (c *Counter) Text(s string) {
	c.JSON(bytes.ReplaceAll([]byte(s), []byte(`\`), []byte(`\\`)))
}

// Add adds tokens.
func (c *Counter) Add(n int64) { c.tokens += float64(n) }

// Total returns the tokens so far, with the margin, rounded up.
func (c *Counter) Total() int64 {
	n := int64(c.tokens)
	if float64(n) < c.tokens {
		n++
	}
	return n + (n*c.encoding.Margin+99)/100
}

// Guessed reports whether some of it was not looked at.
func (c *Counter) Guessed() bool { return c.guessed }

// density is how many tokens a byte is that is not looked at.
func (c *Counter) density() float64 {
	if c.missed < block {
		return usual
	}
	return max(float64(c.cost)/float64(c.missed), 0.1)
}

// add counts a piece of a string.
func (c *Counter) add(raw []byte) (tokens float64) {
	text := raw
	if bytes.IndexByte(raw, '\\') >= 0 {
		c.scratch = unescape(c.scratch[:0], raw)
		text = c.scratch
	}
	for len(text) > 0 {
		n := next(text)
		tokens += c.word(text[:n])
		text = text[n:]
	}
	return tokens
}

func (c *Counter) word(w []byte) float64 {
	v := c.encoding.vocabulary
	if n, ok := v.known(w); ok {
		return float64(n)
	}
	if c.miss < len(w) {
		c.guessed = true
		return c.density() * float64(len(w))
	}
	c.miss -= len(w)
	n := v.count(w)
	c.missed += int64(len(w))
	c.cost += n
	return float64(n)
}

// next returns the end of the first word: the place before a space that stands alone
// between others than spaces, or between a letter or digit and the end of its line,
// where both vocabularies always cut.
func next(text []byte) int {
	for i := 1; i < len(text); i++ {
		if i >= pieceMost {
			for i < len(text) && !utf8.RuneStart(text[i]) {
				i++
			}
			return i
		}
		switch {
		case text[i] == ' ' && i+1 < len(text) && !blank(text[i+1]) && !blank(text[i-1]),
			text[i] == '\n' && wordly(text[i-1]):
			return i
		}
	}
	return len(text)
}

// blank reports whether a byte may be of a space: those beyond ASCII are taken for
// some, which makes words longer and changes no count.
func blank(b byte) bool { return b <= ' ' || b >= utf8.RuneSelf }

func wordly(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9'
}

// unescape appends what a piece of a JSON string means. A piece that was cut within an
// escape, or that is none, loses a character.
func unescape(to, raw []byte) []byte {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 == len(raw) {
			to = append(to, raw[i])
			continue
		}
		i++
		switch raw[i] {
		case 'n':
			to = append(to, '\n')
		case 't':
			to = append(to, '\t')
		case 'r':
			to = append(to, '\r')
		case 'b', 'f':
			to = append(to, ' ')
		case 'u':
			r := hex4(raw[i+1:])
			i = min(i+4, len(raw))
			if low := 0xDC00; r >= 0xD800 && r < rune(low) && i+6 < len(raw) && raw[i+1] == '\\' && raw[i+2] == 'u' {
				if second := hex4(raw[i+3:]); second >= rune(low) && second < 0xE000 {
					r = 0x10000 + (r-0xD800)<<10 + (second - rune(low))
					i += 6
				}
			}
			to = utf8.AppendRune(to, r)
		default:
			to = append(to, raw[i])
		}
	}
	return to
}

func hex4(b []byte) rune {
	if len(b) < 4 {
		return utf8.RuneError
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}
