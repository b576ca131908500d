package config

import (
	"cmp"
	"net/url"
	"strings"
)

// Ledger is where reservations and jobs are kept.
type Ledger struct {
	URL           Text        `yaml:"url" required:"true" doc:"sqlite:FILE, of one gateway, or postgres://user:password@host:5432/database, which several share."`
	OnOtherConfig OtherConfig `yaml:"on_other_config" doc:"What to do if the ledger holds other quotas than this file: refuse to start (or to reload) and say so; adopt the ledger's and say so; or replace the ledger's by this file's, for every gateway and at once. What was used stays used. Default: replace with sqlite, which has one gateway; refuse with postgres."`
	Heartbeat     Duration    `yaml:"heartbeat" default:"3s" min:"100ms" max:"1m" doc:"How often this gateway tells the ledger that it lives."`
	DeadAfter     Duration    `yaml:"dead_after" min:"500ms" max:"1h" doc:"How long a gateway may say nothing before the others take it for dead: what it had reserved and not started is released, what it had started is unknown. At least twice its heartbeat, which is the default: it is noticed within three."`
	Reconcile     Reconcile   `yaml:"reconcile" doc:"How calls of which nobody knows the end are ended without anybody's hand. Default: never; an operator ends them, with spillway ledger reconcile."`
	Keep          Duration    `yaml:"keep" default:"168h" min:"1m" max:"8760h" doc:"How long calls whose end is known are kept. What is open or unknown stays, however old."`
}

// Reconcile is a record outside, the provider's own say, by which calls that are
// unknown are ended.
type Reconcile struct {
	Record Text     `yaml:"record" required:"true" doc:"URL that is asked, as GET RECORD?id=ID&attempt=N&tenant=NAME, and answers {\"call\": \"absent\"}, running or ended, with what it used: {\"used\": {\"tokens\": 120}}. absent frees the call's slot and gives back what it took: the record must hold every call as soon as it has come."`
	Token  Text     `yaml:"token" doc:"Sent with it, as Authorization: Bearer TOKEN."`
	After  Duration `yaml:"after" default:"10m" min:"1s" max:"24h" doc:"How long a call has been unknown before it is asked about, and how long until it is asked about again. Longer than the record lags behind."`
}

// OtherConfig is what to do where the ledger holds other quotas.
type OtherConfig string

// The ways to treat a ledger that holds other quotas.
const (
	OtherRefuse  OtherConfig = "refuse"
	OtherAdopt   OtherConfig = "adopt"
	OtherReplace OtherConfig = "replace"
)

func (OtherConfig) values() []string { return []string{"refuse", "adopt", "replace"} }

// SQLite returns the file of a ledger that is one, and false of any other.
func (l Ledger) SQLite() (file string, ok bool) { return strings.CutPrefix(l.URL.Value(), "sqlite:") }

func (l *Ledger) fill() {
	if l.URL.IsZero() {
		return
	}
	if l.OnOtherConfig == "" {
		l.OnOtherConfig = OtherRefuse
		if _, ok := l.SQLite(); ok {
			l.OnOtherConfig = OtherReplace
		}
	}
	l.Heartbeat = cmp.Or(l.Heartbeat, Duration(3e9))
	l.DeadAfter = cmp.Or(l.DeadAfter, max(2*l.Heartbeat, Duration(5e8)))
	if !l.Reconcile.Record.IsZero() {
		l.Reconcile.After = cmp.Or(l.Reconcile.After, Duration(600e9))
	}
	l.Keep = cmp.Or(l.Keep, Duration(168*3600e9))
}

// ledger checks what the ranges do not.
func (k *checker) ledger() {
	l := k.cfg.Ledger
	if l == (Ledger{}) || l.URL.IsZero() {
		return
	}
	const at = "ledger.url"
	const right = "write sqlite:FILE or postgres://user@host:5432/database"
	value := l.URL.Value()
	scheme, rest, _ := strings.Cut(value, ":")
	switch scheme {
	case "sqlite":
		if rest == "" || strings.ContainsAny(rest, "?#") || strings.HasPrefix(rest, ":") {
			k.report(at, "write sqlite: and a path, as in sqlite:spillway.db", "does not name a file")
		}
	case "postgres", "postgresql":
		if u, err := url.Parse(value); err != nil || u.Host == "" && u.Query().Get("host") == "" {
			k.report(at, right, "is no address of a database")
		}
	default:
		k.report(at, right, "is of no kind that is known")
	}
	if r := l.Reconcile.Record; !r.IsZero() {
		u, err := url.Parse(r.Value())
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
			k.report("ledger.reconcile.record", "write http(s)://host/path; a password goes into token", "is no URL that can be asked")
		}
	}
	full := l
	full.fill()
	if full.DeadAfter < 2*full.Heartbeat {
		k.report("ledger.dead_after", "make it at least twice as long", "is %s, and heartbeat is %s: one that is late is no death", full.DeadAfter, full.Heartbeat)
	}
}
