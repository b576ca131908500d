package tokens

import (
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tiktoken-go/tokenizer"
)

// Encoding is a vocabulary and a margin.
type Encoding struct {
	// Margin is what is added to a count, in per cent.
	Margin int64

	vocabulary *vocabulary
}

// vocabulary is one that is published, and a table of what words cost in it.
type vocabulary struct {
	name  tokenizer.Encoding
	once  sync.Once
	codec tokenizer.Codec
	words [tableSize]atomic.Pointer[word]
}

// tableSize is how many words a vocabulary's table holds: those of everyday texts,
// in some 4 MiB at most. A word that comes takes the place of the one that is there.
const tableSize = 1 << 15

// wordMost is the longest word that the table takes, in bytes.
const wordMost = 48

// word is an entry; it is not changed.
type word struct {
	text   string
	tokens int64
}

var (
	o200k  = &vocabulary{name: tokenizer.O200kBase}
	cl100k = &vocabulary{name: tokenizer.Cl100kBase}
	seed   = maphash.MakeSeed()
)

// older are the beginnings of the names of those models that OpenAI's older
// vocabulary belongs to.
var older = []string{"gpt-4-", "gpt-3.5", "gpt-35", "text-embedding-", "davinci-002", "babbage-002"}

// newer are the beginnings of those that its newer one belongs to.
var newer = []string{"gpt-", "chatgpt-", "o1", "o3", "o4", "codex-", "computer-use-"}

// UnknownMargin is added for models of which nobody knows here how they count.
const UnknownMargin = 20

// For returns how a model of OpenAI's, or of a service that speaks its language, is
// counted. Of a model that is not OpenAI's the vocabulary is not known; it is counted
// with OpenAI's newest and [UnknownMargin]. A name may bear an organisation in front
// (openai/gpt-4o) and a version behind.
func For(model string) Encoding {
	if i := strings.LastIndexByte(model, '/'); i >= 0 {
		model = model[i+1:]
	}
	model = strings.TrimPrefix(strings.ToLower(model), "ft:")
	if model == "gpt-4" || hasAny(model, older) {
		return Encoding{vocabulary: cl100k}
	}
	if hasAny(model, newer) && !strings.HasPrefix(model, "gpt-oss") {
		return Encoding{vocabulary: o200k}
	}
	return Encoding{vocabulary: o200k, Margin: UnknownMargin}
}

// WithMargin returns OpenAI's newest vocabulary with a margin, in per cent.
func WithMargin(percent int64) Encoding { return Encoding{vocabulary: o200k, Margin: percent} }

func hasAny(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// known returns what the table has for a word.
func (v *vocabulary) known(w []byte) (tokens int64, ok bool) {
	if len(w) > wordMost {
		return 0, false
	}
	if e := v.words[maphash.Bytes(seed, w)%tableSize].Load(); e != nil && e.text == string(w) {
		return e.tokens, true
	}
	return 0, false
}

// count counts a word by the vocabulary.
func (v *vocabulary) count(w []byte) int64 {
	v.once.Do(func() { v.codec, _ = tokenizer.Get(v.name) })
	text := string(w)
	n, err := v.codec.Count(text)
	if err != nil {
		n = len(w) // no text has more tokens than bytes
	}
	if len(w) <= wordMost {
		v.words[maphash.Bytes(seed, w)%tableSize].Store(&word{text, int64(n)})
	}
	return int64(n)
}
