package text

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"strings"
)

// Corpus is what there is to type.
type Corpus struct {
	Source  string
	Writers []Writer
	// Words are how often words are used by everybody, most frequent first; empty
	// where no list says.
	Words []Word
}

// Writer is who types, and what, in the order of its writing. A sentence's words are
// in lower case; an empty one stands for what was typed and is not known.
type Writer struct {
	Name      string
	Sentences [][]string
}

// Word is how often a word was used.
type Word struct {
	Text  string
	Count int64
}

// bundled has a line for each sentence, and before those of a writer its name, after
// an equals sign. The texts are in the public domain: their writers died in 1898,
// 1616, 1674 and 1727. They were cut into sentences of at most 16 words, in lower
// case, from Project Gutenberg's files.
//
//go:embed bundled.txt.gz
var bundled []byte

// Bundled returns the text that is part of the program.
func Bundled() (*Corpus, error) {
	zip, err := gzip.NewReader(bytes.NewReader(bundled))
	if err != nil {
		return nil, err
	}
	return plain("bundled: pages of Carroll, Shakespeare, Milton and Newton (public domain)", zip)
}

// plain reads sentences, a line each, under their writers' names.
func plain(source string, from io.Reader) (*Corpus, error) {
	c := &Corpus{Source: source}
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		line := lines.Text()
		if name, is := strings.CutPrefix(line, "= "); is {
			c.Writers = append(c.Writers, Writer{Name: name})
			continue
		}
		if len(c.Writers) == 0 {
			return nil, fmt.Errorf("%s: %q has no writer; name one before it, after an equals sign", source, line)
		}
		w := &c.Writers[len(c.Writers)-1]
		w.Sentences = append(w.Sentences, strings.Fields(line))
	}
	return c, lines.Err()
}
