package text

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/spillway-dev/spillway/test/need"
)

func TestTheBundledTextIsOfSeveralWriters(t *testing.T) {
	c, err := Bundled()
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Writers) != 4 || len(c.Words) != 0 {
		t.Errorf("%d writers, %d words, want 4 and no list", len(c.Writers), len(c.Words))
	}
	for _, w := range c.Writers {
		if len(w.Sentences) < 1000 || !strings.Contains(w.Name, ",") {
			t.Errorf("%s: %d sentences", w.Name, len(w.Sentences))
		}
		for _, s := range w.Sentences {
			if len(s) < 2 || len(s) > 16 {
				t.Fatalf("%s: a sentence of %d words: %q", w.Name, len(s), s)
			}
			for _, word := range s {
				if !isWord(word) {
					t.Fatalf("%s: %q is no word", w.Name, word)
				}
			}
		}
	}
}

func TestWhatOfAMessageIsASentence(t *testing.T) {
	for tokens, want := range map[string][]string{
		"hi ~~~ are you":             {"hi", "are", "you"},
		"<w4> <w4> *":                nil,
		"what <w9> then":             {"what", "", "then"},
		"!!! <n3> ok":                {"", "ok"},
		"don't 'tis it' o'clock":     {"don't", "o'clock"},
		"":                           nil,
		strings.Repeat("x", 40):      nil,
		"Upper caf\u00e9 ok \x00 a1": {"ok"},
	} {
		if got := sentence(strings.Fields(tokens)); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, want %q", tokens, got, want)
		}
	}
}

func TestMessagesAreInTheOrderOfTheirTimes(t *testing.T) {
	w, err := readMessages("x", strings.NewReader(`{"u":"b","t":5,"w":["five"]}
{"u":"a","t":9,"w":["nine"]}
{"u":"b","t":2,"w":["two"]}
{"u":"b","t":2,"w":["too"]}
`))
	if err != nil || len(w) != 2 || w[0].Name != "a" {
		t.Fatalf("%v, %v", w, err)
	}
	if got := w[1].Sentences; !reflect.DeepEqual(got, [][]string{{"two"}, {"too"}, {"five"}}) {
		t.Errorf("%q", got)
	}
}

func TestWhatIsWrongIsSaidWithItsLine(t *testing.T) {
	_, messages := readMessages("m", strings.NewReader("{}\n{\n"))
	_, words := readWords("w", strings.NewReader("the 5\nof many\n"))
	_, negative := readWords("w", strings.NewReader("the -5\n"))
	_, orphan := plain("p", strings.NewReader("no writer\n"))
	for want, err := range map[string]error{"m:2": messages, "w:2": words, "w:1": negative, "no writer": orphan} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want one with %s", err, want)
		}
	}
	if _, err := Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "typing/sms_tokens.jsonl.gz") {
		t.Errorf("an empty folder: %v", err)
	}
}

func FuzzMessages(f *testing.F) {
	f.Add(`{"u":"a","t":1,"w":["hi","<w3>"]}`)
	f.Add(`{"u":"a","t":-9223372036854775808,"w":[]}`)
	f.Fuzz(func(t *testing.T, text string) {
		writers, err := readMessages("x", strings.NewReader(text))
		if err != nil {
			return
		}
		for _, w := range writers {
			for _, s := range w.Sentences {
				for _, word := range s {
					if word != "" && !isWord(word) {
						t.Fatalf("%q is taken for a word", word)
					}
				}
			}
		}
	})
}

func TestTheRecordedText(t *testing.T) {
	dir := filepath.Dir(filepath.Dir(need.Data(t, "typing/sms_tokens.jsonl.gz")))
	need.Data(t, "words/en_50k.txt")
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Writers) != 44 || len(c.Words) < 40_000 {
		t.Errorf("%d writers, %d words", len(c.Writers), len(c.Words))
	}
}
