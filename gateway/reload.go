package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/observe"
)

// Reloaded is what a reload did, or would do.
type Reloaded struct {
	// Result is applied, unchanged or refused.
	Result string `json:"result"`
	// Dry says that it is what would have become of it: nothing was done.
	Dry bool `json:"dry,omitempty"`
	// Generation counts the configurations that were in force, this one included.
	Generation int64  `json:"generation"`
	Digest     string `json:"digest"`
	// Changes are those between what is in force and what was read; if refused,
	// none of them was made.
	Changes []Changed `json:"changes"`
	// Why it was refused, on one line.
	Why string `json:"why,omitempty"`
	// Problems are all that is wrong with the file.
	Problems config.Errors    `json:"problems,omitempty"`
	Warnings []config.Warning `json:"warnings,omitempty"`
}

// Changed is a change with what it meets in the running gateway.
type Changed struct {
	config.Change
	Running int64 `json:"running,omitempty"` // of the class it is about
	Waiting int64 `json:"waiting,omitempty"`
}

// String is one line: path: old -> new: what it means.
func (c Changed) String() string {
	if c.Running+c.Waiting == 0 {
		return c.Change.String()
	}
	return fmt.Sprintf("%s (%d running, %d waiting)", c.Change, c.Running, c.Waiting)
}

// Why a reload is not even tried.
var (
	errNoSource = errors.New("there is no file to read again: the gateway was started without one")
	errWinding  = errors.New("the gateway is draining: what is in force stays until the end")
)

// Reload reads the configuration again and applies it, whole or not at all. by
// says who asked, for the log. What waits and runs goes on; every count, credit
// and measurement stays; a request in flight keeps the configuration that it was
// classified by. The error says on one line why nothing was changed; the result
// is never nil.
func (g *Gateway) Reload(by string) (*Reloaded, error) { return g.reload(by, true) }

// Propose is Reload without applying anything.
func (g *Gateway) Propose() (*Reloaded, error) { return g.reload("", false) }

func (g *Gateway) reload(by string, apply bool) (*Reloaded, error) {
	g.reloading.Lock()
	defer g.reloading.Unlock()
	if g.opts.Load == nil {
		return g.refused(by, apply, errNoSource)
	}
	cfg, err := g.opts.Load()
	if err != nil {
		return g.refused(by, apply, err)
	}
	return g.replace(cfg, by, apply)
}

// Reconfigure applies a configuration that passed validation, as Reload does.
func (g *Gateway) Reconfigure(cfg *config.Config, by string) (*Reloaded, error) {
	g.reloading.Lock()
	defer g.reloading.Unlock()
	return g.replace(cfg, by, true)
}

// replace puts a configuration in the place of the one in force. reloading is
// held.
func (g *Gateway) replace(cfg *config.Config, by string, apply bool) (*Reloaded, error) {
	if g.wound {
		return g.refused(by, apply, errWinding)
	}
	filed := cfg
	cfg, dropped := g.overlaid(filed)
	before := g.current.Load()
	changes := config.Diff(before.cfg, cfg)
	for _, c := range changes {
		if c.Restart {
			r, err := g.refused(by, apply, fmt.Errorf("%s: %s -> %s needs a restart; put it back, or restart", c.Path, c.Old, c.New))
			r.Changes = before.changed(changes)
			return r, err
		}
	}
	planned, err := g.newGeneration(cfg.WithDefaults(), before)
	if err != nil {
		return g.refused(by, apply, err)
	}
	r := &Reloaded{Result: observe.ReloadUnchanged, Dry: !apply, Changes: before.changed(changes), Warnings: cfg.Warnings(),
		Generation: before.number, Digest: planned.digest}
	if len(changes) == 0 || !apply {
		planned.discard()
		if len(changes) > 0 {
			r.Result, r.Generation = observe.ReloadApplied, planned.number
		}
	} else {
		if err := g.bringQuotas(cfg); err != nil {
			planned.discard()
			return g.refused(by, apply, err)
		}
		if err := g.adopt(planned); err != nil { // which newGeneration has ruled out
			return g.refused(by, apply, err)
		}
		r.Result, r.Generation = observe.ReloadApplied, planned.number
	}
	if apply {
		g.rebase(filed, dropped)
		g.seen.Reloads.Note(time.Now(), r.Result, r.Digest)
		g.lastRefused = ""
		g.tell(by, r)
	}
	return r, nil
}

// refused notes a reload that changed nothing.
func (g *Gateway) refused(by string, apply bool, err error) (*Reloaded, error) {
	now := g.current.Load()
	r := &Reloaded{Result: observe.ReloadRefused, Dry: !apply, Generation: now.number, Digest: now.digest, Changes: []Changed{}, Why: oneLine(err)}
	errors.As(err, &r.Problems)
	if apply {
		g.seen.Reloads.Note(time.Now(), r.Result, r.Digest)
		if by != byFile || r.Why != g.lastRefused { // a file that stays wrong says so once
			g.log.Warn("reload refused; what was in force stays", "by", by, "why", r.Why)
		}
		g.lastRefused = r.Why
	}
	return r, errors.New(r.Why)
}

// oneLine is the first of several problems, and how many there are.
func oneLine(err error) string {
	first, rest, several := strings.Cut(err.Error(), "\n")
	if several {
		first = fmt.Sprintf("%s (and %d more)", first, 1+strings.Count(rest, "\n"))
	}
	return first
}

// changesLogged bounds what a reload says in the log; the answer of POST /reload
// has all of it.
const changesLogged = 50

func (g *Gateway) tell(by string, r *Reloaded) {
	if r.Result == observe.ReloadUnchanged {
		if by != byFile {
			g.log.Info("reload: nothing has changed", "by", by, "digest", r.Digest)
		}
		return
	}
	g.log.Info("reloaded", "by", by, "generation", r.Generation, "digest", r.Digest, "changes", len(r.Changes))
	for i, c := range r.Changes {
		if i == changesLogged {
			g.log.Info("changed", "more", len(r.Changes)-i)
			break
		}
		g.log.Info("changed", "what", c.String())
	}
	for _, w := range r.Warnings {
		g.log.Warn("configuration", "warning", w.String())
	}
}

// changed puts beside each change of a class who runs and waits in it.
func (n *generation) changed(changes []config.Change) []Changed {
	all := make([]Changed, len(changes))
	for i, c := range changes {
		all[i].Change = c
		path := strings.SplitN(c.Path, ".", 3)
		if path[0] != "classes" || len(path) < 2 || c.Means == "" || c.Old == "" {
			continue
		}
		for _, k := range n.classes {
			if k.name == path[1] {
				s := k.gate.States()[k.index]
				all[i].Running, all[i].Waiting = s.Tally.Running, s.Tally.Waiting
			}
		}
	}
	return all
}

// byFile is who asks when a file has changed.
const byFile = "file"

// retryEvery is after how many looks at the files a configuration that was
// refused is tried again although they are as they were: what it named may have
// come meanwhile.
const retryEvery = 10

// Watch looks at the files that the configuration rests on and reloads when they
// have changed and stay as they are from one look to the next, until ctx ends.
// Files are read, not asked for their times: it makes no difference whether one
// is written anew, renamed into place, or reached through a link that now leads
// elsewhere, and a file on a network is as good as any. It returns at once if
// there is no file.
func (g *Gateway) Watch(ctx context.Context) {
	if g.opts.Load == nil || len(g.config().Files()) == 0 {
		return
	}
	var settled, candidate string // settled is unknown: the file may have changed since it was loaded
	look := time.NewTimer(g.config().Reload.Every.D())
	defer look.Stop()
	for looks := 1; ; looks++ {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		cfg := g.config()
		look.Reset(cfg.Reload.Every.D())
		if !cfg.Reload.Watch.On() {
			settled, candidate = config.Fingerprint(cfg.Files()), ""
			continue
		}
		switch now := config.Fingerprint(cfg.Files()); {
		case now == candidate:
			g.Reload(byFile)
			// If it has changed meanwhile, or what is in force now rests on other
			// files, the next look sees another fingerprint.
			settled, candidate = now, ""
		case now != settled:
			candidate = now
		case looks%retryEvery == 0 && g.failing():
			g.Reload(byFile)
		default:
			candidate = ""
		}
	}
}

// failing reports whether the latest reload was refused.
func (g *Gateway) failing() bool {
	g.reloading.Lock()
	defer g.reloading.Unlock()
	return g.lastRefused != ""
}

// serveReload answers POST /reload: with ?dry=1 it only says what would change.
func (g *Gateway) serveReload(w http.ResponseWriter, r *http.Request, by string) {
	var done *Reloaded
	var err error
	if dry := r.URL.Query().Get("dry"); dry != "" && dry != "0" {
		done, err = g.Propose()
	} else {
		done, err = g.Reload(by)
	}
	status := http.StatusOK
	if err != nil {
		status = http.StatusUnprocessableEntity
		if done.Why == errWinding.Error() || done.Why == errNoSource.Error() {
			status = http.StatusConflict
		}
	}
	reply(w, r, status, done, done.write)
}

// reply answers an operator as JSON or as text, by Accept.
func reply(w http.ResponseWriter, r *http.Request, status int, doc any, text func(io.Writer)) {
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(doc)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	text(w)
}

// Outcome is Result as a text says it, so that nobody takes a dry run for a reload.
func (r *Reloaded) Outcome() string {
	if r.Dry && r.Result != observe.ReloadUnchanged {
		return "would be " + r.Result
	}
	return r.Result
}

// write renders what was done as text.
func (r *Reloaded) write(w io.Writer) {
	if r.Why != "" {
		fmt.Fprintf(w, "%s: %s\n", r.Outcome(), r.Why)
	} else {
		fmt.Fprintf(w, "%s: generation %d, digest %s, %d changes\n", r.Outcome(), r.Generation, r.Digest, len(r.Changes))
	}
	for _, c := range r.Changes {
		fmt.Fprintln(w, c)
	}
	for _, x := range r.Warnings {
		fmt.Fprintln(w, x)
	}
}
