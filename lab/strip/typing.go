package strip

import (
	"math"
	"time"

	"github.com/spillway-dev/spillway/policy/chance"
	"github.com/spillway-dev/spillway/workload/dice"
)

// How writers type: a key every 230 ms, the median of recorded sessions, none sooner
// than 80 ms after the last; a pause of three seconds after a sentence; and one key in
// a hundred is typed again after a correction, which asks what was asked before.
const (
	keyLeast   = 80 * time.Millisecond
	keyMore    = 150 * time.Millisecond // exponential
	pauseLeast = time.Second
	pauseMore  = 2 * time.Second
	againOneIn = 100
)

// typed is one keystroke of a run.
type typed struct {
	at      time.Duration
	stroke  *stroke
	session int32
	serial  int32 // of the sentence in its session
	again   bool
}

// question is what it asks, of its session: the same when it is typed again.
func (t *typed) question() uint64 {
	return chance.Mix(uint64(t.session)<<32|uint64(t.serial)) ^ chance.Mix(uint64(t.stroke.word)<<8|uint64(t.stroke.prefix)) | 1
}

// stretch is its sentence, as a key.
func (t *typed) stretch() uint64 { return uint64(t.session)<<32 | uint64(t.serial) + 1 }

// writer is one who types in a run.
type writer struct {
	next     time.Duration
	session  int32
	serial   int32
	of       int // whose text
	sentence int // of it
	stroke   int
	again    bool          // the key is typed again
	until    time.Duration // leaves
	luck     dice.Dice
}

// typing is everything that is typed in a run, in order of time.
func (m *material) typing(s *Setting) []typed {
	d := dice.New(s.Seed, "strip/writers")
	half, all := m.writersFor(s.capacity()/2), m.writersFor(s.capacity()*s.Load)
	end := sec(s.ToS + s.AfterS)
	var h writers
	for i := range max(half, all) {
		w := &writer{session: int32(i), of: i % len(m.writers), luck: d.At(uint64(i), 0), until: end}
		switch {
		case i < half && i < all:
			w.next = time.Duration(w.luck.Float64() * float64(time.Second))
		case i < half: // a load below a half: these leave when it begins
			w.next, w.until = time.Duration(w.luck.Float64()*float64(time.Second)), sec(s.UpS)
		default:
			w.next, w.until = sec(s.UpS), sec(s.ToS)
		}
		m.begin(w)
		h.push(w)
	}
	dip := [2]time.Duration{sec((s.FromS + s.ToS) / 2), sec((s.FromS+s.ToS)/2 + s.DipS)}
	var out []typed
	for len(h) > 0 {
		w := h[0]
		if w.next >= w.until {
			h.pop()
			continue
		}
		away := w.session >= int32(half) && w.next >= dip[0] && w.next < dip[1]
		m.press(w, &out, away)
		h.sift()
	}
	return out
}

// begin puts a writer somewhere into its text and its sentence, or into the pause
// after it, as if it had typed for long.
func (m *material) begin(w *writer) {
	text := m.writers[w.of]
	w.sentence = w.luck.Intn(len(text))
	length := time.Duration(len(text[w.sentence])) * (keyLeast + keyMore)
	at := time.Duration(w.luck.Float64() * float64(length+pauseLeast+pauseMore))
	if at < length {
		w.stroke = int(at / (keyLeast + keyMore))
		w.next += w.key()
		return
	}
	w.next += length + pauseLeast + pauseMore - at
	w.sentence = (w.sentence + 1) % len(text)
}

// press types the writer's next key, or lets the time of it pass while it is away.
func (m *material) press(w *writer, out *[]typed, away bool) {
	sentence := m.writers[w.of][w.sentence]
	if !away {
		*out = append(*out, typed{at: w.next, stroke: &sentence[w.stroke], session: w.session, serial: w.serial, again: w.again})
	}
	w.next += w.key()
	if w.again = !away && !w.again && w.luck.Intn(againOneIn) == 0; w.again {
		return
	}
	if w.stroke++; w.stroke < len(sentence) {
		return
	}
	w.stroke, w.serial = 0, w.serial+1
	w.sentence = (w.sentence + 1) % len(m.writers[w.of])
	w.next += pauseLeast + time.Duration(w.luck.Exp()*float64(pauseMore))
}

func (w *writer) key() time.Duration {
	return keyLeast + time.Duration(w.luck.Exp()*float64(keyMore))
}

// writersFor is how many type so many keys a second.
func (m *material) writersFor(perS float64) int {
	each := 0.0
	for _, w := range m.writers { // as many of each as of every other
		of := 0
		for _, s := range w {
			of += len(s)
		}
		keys := float64(of) / float64(len(w)) * (1 + 1.0/againOneIn)
		each += keys / (keys*(keyLeast+keyMore).Seconds() + (pauseLeast + pauseMore).Seconds()) / float64(len(m.writers))
	}
	return int(math.Round(perS / each))
}

// writers are a heap by the time of the next key, of one time by session.
type writers []*writer

func (h writers) less(i, j int) bool {
	return h[i].next < h[j].next || h[i].next == h[j].next && h[i].session < h[j].session
}

func (h *writers) push(w *writer) {
	*h = append(*h, w)
	for i := len(*h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h.less(i, up) {
			return
		}
		(*h)[i], (*h)[up] = (*h)[up], (*h)[i]
		i = up
	}
}

// sift puts the first one where it belongs.
func (h writers) sift() {
	for i := 0; ; {
		least := i
		for _, down := range [...]int{2*i + 1, 2*i + 2} {
			if down < len(h) && h.less(down, least) {
				least = down
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

func (h *writers) pop() {
	last := len(*h) - 1
	(*h)[0] = (*h)[last]
	*h = (*h)[:last]
	h.sift()
}
