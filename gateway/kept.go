package gateway

import (
	"io"
	"log/slog"
	"reflect"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gate/standin/onfile"
	"github.com/spillway-dev/spillway/gateway/rungs"
	"github.com/spillway-dev/spillway/observe/quality"
)

// keptFile is the file of one class's earlier answers, open as long as that class
// keeps any. Several classes may name one file.
type keptFile struct {
	*onfile.File
	log *slog.Logger
}

// earlierAnswers returns what the class has kept, if that is to be kept on as it is.
func (c *class) earlierAnswers(wanted config.CacheRung) *rungs.Cache {
	if c == nil || c.ladder == nil || c.ladder.cache == nil || !reflect.DeepEqual(c.ladder.earlier, wanted) {
		return nil
	}
	return c.ladder.cache
}

// openKept opens the files of those classes of a planned generation that have one and
// did not have it before, and fills their caches.
func (p *plan) openKept(before *generation, cfg *config.Config, log *slog.Logger) error {
	for _, c := range p.classes {
		b := c.ladder
		if b == nil || b.earlier.File == "" || b.kept != nil {
			continue
		}
		if old := before.class(c.name); old != nil && old.ladder != nil && old.ladder.kept != nil {
			old.ladder.kept.Flush() // what fails is told when it is written next
		}
		k := &keptFile{log: log}
		var err error
		if k.File, err = onfile.Open(cfg.Beside(b.earlier.File), onfile.Options{Failed: k.failed}); err != nil {
			return err
		}
		if err := b.cache.KeepIn(k.File, c.name); err != nil {
			k.Close()
			return err
		}
		b.kept = k
		p.opened = append(p.opened, k)
	}
	return nil
}

// forgetKept closes what was opened for a generation that does not come.
func (p *plan) forgetKept() {
	for _, k := range p.opened {
		k.Close()
	}
}

// stopKeeping closes the files of the generation before that this one does not use.
func (p *plan) stopKeeping(before *generation) {
	if before == nil {
		return
	}
	used := make(map[*keptFile]bool)
	for _, c := range p.classes {
		if c.ladder != nil {
			used[c.ladder.kept] = true
		}
	}
	for _, c := range before.classes {
		if c.ladder != nil && c.ladder.kept != nil && !used[c.ladder.kept] {
			c.ladder.kept.close()
		}
	}
}

// closeKept closes all files, with what changed written.
func (n *generation) closeKept() {
	for _, c := range n.classes {
		if c.ladder != nil && c.ladder.kept != nil {
			c.ladder.kept.close()
		}
	}
}

func (k *keptFile) close() {
	if err := k.Close(); err != nil {
		k.failed(err)
	}
}

// begin puts a class's cheaper answers into use.
func (l *ladder) begin(c *class, judged []*quality.Rung) {
	if l == nil {
		return
	}
	l.quality = judged
	for i := range l.Len() {
		l.seen = append(l.seen, c.seen.Rungs.Rung(l.Name(i)))
	}
}

// failed tells that what is kept could not be written: answers are given from memory
// all the same.
func (k *keptFile) failed(err error) {
	k.log.Warn("what is kept could not be written", "error", err.Error())
}

// discardAll reads an answer to its end and reports whether it got there.
func discardAll(r io.Reader) bool {
	n, err := io.CopyN(io.Discard, r, discardMost)
	return n < discardMost && err == io.EOF
}
