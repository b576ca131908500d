package text

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Bounds of what is read.
const (
	bytesMax   = 256 << 20
	writersMax = 10_000
	wordMost   = 32 // letters
)

// Load reads messages and the list of words from a folder.
func Load(dir string) (*Corpus, error) {
	messages, err := open(filepath.Join(dir, "typing", "sms_tokens.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	defer messages.Close()
	zip, err := gzip.NewReader(messages)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", messages.Name(), err)
	}
	c := &Corpus{Source: "messages of the NUS SMS Corpus, word counts of film subtitles"}
	if c.Writers, err = readMessages(messages.Name(), io.LimitReader(zip, bytesMax)); err != nil {
		return nil, err
	}
	list, err := open(filepath.Join(dir, "words", "en_50k.txt"))
	if err != nil {
		return nil, err
	}
	defer list.Close()
	c.Words, err = readWords(list.Name(), io.LimitReader(list, bytesMax))
	return c, err
}

func open(name string) (*os.File, error) {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%w; --text names a folder that holds typing/sms_tokens.jsonl.gz and words/en_50k.txt", err)
	}
	return f, err
}

// readMessages reads a message a line, in the writers' order of writing.
func readMessages(name string, from io.Reader) ([]Writer, error) {
	type message struct {
		Writer string   `json:"u"`
		At     int64    `json:"t"`
		Words  []string `json:"w"`
	}
	var writers []Writer
	index := map[string]int{}
	var at [][]int64
	lines := bufio.NewScanner(from)
	for n := 1; lines.Scan(); n++ {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		i, known := index[m.Writer]
		if !known {
			if len(writers) == writersMax {
				return nil, fmt.Errorf("%s:%d: more than %d writers", name, n, writersMax)
			}
			i = len(writers)
			index[m.Writer] = i
			writers = append(writers, Writer{Name: m.Writer})
			at = append(at, nil)
		}
		if s := sentence(m.Words); len(s) > 0 {
			writers[i].Sentences = append(writers[i].Sentences, s)
			at[i] = append(at[i], m.At)
		}
	}
	for i := range writers {
		inOrder(writers[i].Sentences, at[i])
	}
	slices.SortFunc(writers, func(a, b Writer) int { return strings.Compare(a.Name, b.Name) })
	return writers, lines.Err()
}

// sentence returns a message's words: punctuation is left out, what is masked is an
// unknown word, and one without a known word is none.
func sentence(tokens []string) (words []string) {
	known := false
	for _, t := range tokens {
		switch {
		case isWord(t):
			words, known = append(words, t), true
		case strings.HasPrefix(t, "<"):
			words = append(words, "")
		}
	}
	if !known {
		return nil
	}
	return words
}

// isWord reports whether a token is letters, apostrophes between them.
func isWord(t string) bool {
	if len(t) == 0 || len(t) > wordMost {
		return false
	}
	for i := range len(t) {
		if c := t[i]; (c < 'a' || c > 'z') && (c != '\'' || i == 0 || i == len(t)-1) {
			return false
		}
	}
	return true
}

// inOrder sorts sentences by their times, those of one time as they stand.
func inOrder(sentences [][]string, at []int64) {
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	sorted := make([][]string, len(order))
	for i, o := range order {
		sorted[i] = sentences[o]
	}
	copy(sentences, sorted)
}

// readWords reads a word and its count a line.
func readWords(name string, from io.Reader) ([]Word, error) {
	var words []Word
	lines := bufio.NewScanner(from)
	for n := 1; lines.Scan(); n++ {
		text, count, _ := strings.Cut(lines.Text(), " ")
		k, err := strconv.ParseInt(count, 10, 64)
		if err != nil || k < 0 {
			return nil, fmt.Errorf("%s:%d: %q; write a word and its count", name, n, lines.Text())
		}
		if isWord(text) {
			words = append(words, Word{text, k})
		}
	}
	return words, lines.Err()
}
