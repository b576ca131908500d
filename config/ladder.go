package config

import (
	"cmp"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Rung is one cheaper answer: exactly one of its kinds.
type Rung struct {
	Name     string     `yaml:"name" doc:"What it is called in headers and metrics. Default: its kind, or the upstream's name; with -2 where that is taken."`
	Cache    CacheRung  `yaml:"cache" doc:"An earlier answer of the primary to the same request, as HTTP lets it be used."`
	Upstream string     `yaml:"upstream" doc:"Name of another upstream, which is asked instead, in a pool of its own there."`
	Slots    int        `yaml:"slots" min:"1" max:"1000000" large:"10000" doc:"With upstream: how many requests may be with it at once. Default: an even part of the slots that classes leave of it, and as many more as others leave idle; 20 where nothing says how many it has."`
	Wait     Duration   `yaml:"wait" min:"1ms" max:"24h" doc:"With upstream: how long a request may wait for one of them. Default: not at all, and the next rung is asked."`
	Service  Duration   `yaml:"service" min:"1us" max:"24h" doc:"With upstream: how long it takes for one request. It is not asked with less than that left of the deadline. Default: what the upstream says of itself, else 1ms."`
	Call     Call       `yaml:"call" doc:"With upstream: how it is called; see call of a class. Default: one attempt."`
	Static   StaticRung `yaml:"static" doc:"A fixed answer, to any request that speaks HTTP."`
}

// CacheRung is an earlier answer of the primary.
type CacheRung struct {
	TTL      Duration `yaml:"ttl" required:"true" min:"1s" max:"8760h" doc:"How long an answer is fresh that names no time itself (s-maxage, max-age, Expires)."`
	StaleFor Duration `yaml:"stale_for" min:"1s" max:"8760h" doc:"How much longer one may be used that says nothing of it (stale-if-error) and does not forbid it (must-revalidate, proxy-revalidate, s-maxage). Default: not at all."`
	Override Switch   `yaml:"override" default:"off" doc:"on: ttl and stale_for hold whatever answers say of their freshness, no-cache and must-revalidate included, and answers to requests with Authorization are kept for the same authorization. no-store, private, Set-Cookie and Vary: * hold all the same."`
	MaxBytes Bytes    `yaml:"max_bytes" default:"1MiB" min:"1KiB" max:"64MiB" doc:"The largest body that is kept."`
	Memory   Bytes    `yaml:"memory" default:"64MiB" min:"1MiB" max:"64GiB" large:"4GiB" doc:"What all kept answers may take, and again what those may take that are being copied."`
	Ignore   Words    `yaml:"ignore" items:"100" doc:"Request headers that never change an answer, beside those of docs/fallbacks.md. Every other header is part of the key: an answer is given only to a request that has the same."`
	File     string   `yaml:"file" doc:"A SQLite file in which they are kept over a restart, beside the configuration file if relative. What is kept is written within a second. Default: memory alone."`
}

// StaticRung is a fixed answer.
type StaticRung struct {
	File   string `yaml:"file" required:"true" doc:"Its body, at most 64 KiB, beside the configuration file if relative; the type follows the name's ending. It is read when the configuration is."`
	Status int    `yaml:"status" default:"200" min:"200" max:"599" doc:"Its status."`
	// Body is what the file holds. A Config made in Go sets it itself.
	Body string `yaml:"-"`
}

const (
	defaultKeptBody   = Bytes(1 << 20)  // pages and lists fit, downloads do not
	defaultKeptMemory = Bytes(64 << 20) // as much as a class's waiting room may hold
)

// fill holds what was not written. deadline is the class's.
func (r *Rung) fill(deadline Duration) {
	if c := &r.Cache; c.TTL != 0 {
		c.Override = cmp.Or(c.Override, Off)
		c.Memory = cmp.Or(c.Memory, max(defaultKeptMemory, 4*c.MaxBytes))
		c.MaxBytes = cmp.Or(c.MaxBytes, min(defaultKeptBody, c.Memory/4))
	}
	if r.Static.File != "" {
		r.Static.Status = cmp.Or(r.Static.Status, 200)
	}
	if r.Upstream != "" {
		r.Call.fill(deadline)
	}
}

// kinds is which kinds of answer a rung says it is.
func (r *Rung) kinds() (kinds []string) {
	if c := r.Cache; c.TTL != 0 || c.StaleFor != 0 || c.Override != "" || c.MaxBytes != 0 || c.Memory != 0 || len(c.Ignore) > 0 || c.File != "" {
		kinds = append(kinds, "cache")
	}
	if r.Upstream != "" || r.Slots != 0 || r.Wait != 0 || r.Service != 0 || !reflect.DeepEqual(r.Call, Call{}) {
		kinds = append(kinds, "upstream")
	}
	if r.Static != (StaticRung{}) {
		kinds = append(kinds, "static")
	}
	return kinds
}

// Beside is the path of a file that the configuration names.
func (c *Config) Beside(name string) string {
	if filepath.IsAbs(name) || c.src == nil {
		return name
	}
	return filepath.Join(filepath.Dir(c.src.file), name)
}

// fixedAnswers reads the bodies of static rungs, before anything is slow.
func (d *decoder) fixedAnswers(c *Config) {
	for i := range c.Classes {
		for j := range c.Classes[i].Ladder {
			s := &c.Classes[i].Ladder[j].Static
			if s.File == "" {
				continue
			}
			at := join(join(join(join(join("classes", c.Classes[i].Name), "ladder"), strconv.Itoa(j)), "static"), "file")
			body, err := d.world.file(s.File)
			if err != nil {
				pos := d.src.at[at]
				d.errs = append(d.errs, &Error{File: d.src.file, Line: pos.line, Column: pos.column, Path: at,
					What: at + ": file " + quote(s.File) + " cannot be used: " + err.Error(), Fix: "check the path and who may read it; at most 64 KiB"})
			}
			s.Body = body
		}
	}
}

// ladder checks the rungs of a class (d, defaults filled in).
func (k *checker) ladder(rungs []Rung, d Class, at string) {
	const fix = "write one of cache, upstream, static"
	caches, asked := 0, map[string]bool{d.Upstream: true}
	for i, r := range rungs {
		at := join(at, strconv.Itoa(i))
		switch kinds := r.kinds(); {
		case len(kinds) == 0:
			k.report(at, fix, "says no kind of answer")
		case len(kinds) > 1:
			k.report(at, "make them rungs of their own, the better one first", "is both %s", strings.Join(kinds, " and "))
		case kinds[0] == "cache":
			k.cacheRung(r.Cache, join(at, "cache"))
			if caches++; caches == 2 {
				k.report(at, "keep one", "is a second cache, which holds nothing that the first does not")
			}
		case kinds[0] == "upstream":
			k.upstreamRung(r, d, asked, at)
			asked[r.Upstream] = true
		case kinds[0] == "static" && i < len(rungs)-1:
			k.report(join(join(at, "static"), "file"), "move it to the end, or remove what is below it", "always answers: no rung below it is ever asked")
		}
		switch {
		case r.Name == "":
		case r.Name == "primary" || r.Name == "refusal":
			k.report(join(at, "name"), "choose another", "is %s, which is an end of every ladder", quote(r.Name))
		case !isToken(r.Name) || len(r.Name) > 64:
			k.report(join(at, "name"), "write letters, digits, - and _, at most 64", "is %s", quote(r.Name))
		}
	}
}

// upstreamRung checks a rung that is an upstream; asked are those that the class has
// asked before.
func (k *checker) upstreamRung(r Rung, d Class, asked map[string]bool, at string) {
	names := namesOf(k.cfg.Upstreams)
	switch here := join(at, "upstream"); {
	case r.Upstream == "":
		k.missing(at, "upstream", "name one of "+strings.Join(names, ", "))
	case !slices.Contains(names, r.Upstream):
		k.report(here, k.whichUpstream(r.Upstream, names), "is %s, which is not an upstream", quote(r.Upstream))
	case r.Upstream == d.Upstream:
		k.report(here, "name another, or remove it", "is %s, which is the class's own: it did not answer, and is not asked again", quote(r.Upstream))
	case asked[r.Upstream]:
		k.report(here, "keep one", "is %s, which a rung above asks already", quote(r.Upstream))
	}
	if r.Service >= d.Deadline {
		k.report(join(at, "service"), "make it shorter, or the deadline longer", "is %s, and the deadline is %s: there is never time to ask", r.Service, d.Deadline)
	}
	if r.Call.Reserve != 0 {
		k.report(join(join(at, "call"), "reserve"), "write it in call of the class", "is of the class's deadline, which is one for all rungs")
	}
	r.Call.Reserve = 0
	k.call(r.Call, d, join(at, "call"))
}

func (k *checker) cacheRung(c CacheRung, at string) {
	if c.Memory != 0 && c.MaxBytes > c.Memory/4 {
		k.report(join(at, "max_bytes"), "lower it or raise memory", "is %s, more than a quarter of memory %s", c.MaxBytes, c.Memory)
	}
	for i, name := range c.Ignore {
		if !isToken(name) {
			k.report(k.item(join(at, "ignore"), i), "write a header's name", "is %s", quote(name))
		}
		if slices.ContainsFunc([]string{"Authorization", "Cookie"}, func(s string) bool { return strings.EqualFold(s, name) }) {
			k.report(k.item(join(at, "ignore"), i), "remove it", "is %s: answers to one caller would be given to another", quote(name))
		}
	}
	if strings.HasPrefix(c.File, "file:") || strings.HasPrefix(c.File, "sqlite:") {
		k.report(join(at, "file"), "write the path alone", "is %s", quote(c.File))
	}
}
