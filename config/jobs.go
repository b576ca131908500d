package config

import (
	"cmp"
	"net"
	"net/url"
	"slices"
	"strings"
)

// Jobs is work that is accepted now and done when its turn comes.
type Jobs struct {
	Path        string   `yaml:"path" doc:"Where jobs are brought, asked for and cancelled, as in /v1/jobs. Nothing at it or below it reaches an upstream. Default: nowhere, or /v1/jobs where a class says when_full: persist."`
	Workers     int      `yaml:"workers" default:"8" min:"1" max:"1000" doc:"How many jobs of a class this gateway offers to the class at once. There they share slots with live requests by the class's own rules."`
	Waiting     int      `yaml:"waiting" default:"1000000" min:"1" max:"100000000" doc:"How many jobs without an end there may be in all; one more is refused with queue_full."`
	Bytes       Bytes    `yaml:"bytes" default:"4GiB" min:"64KiB" doc:"What jobs may hold on disk in all, requests that are to be made and answers that are kept; more is refused with queue_bytes."`
	PerTenant   JobShare `yaml:"per_tenant" doc:"The same for each tenant of a class; one more is refused with tenant_full."`
	Body        Bytes    `yaml:"body" default:"1MiB" min:"1KiB" max:"64MiB" doc:"The largest body of a job's request, and of a request with an idempotency key."`
	Answer      Bytes    `yaml:"answer" default:"1MiB" min:"1KiB" max:"64MiB" doc:"The largest answer that is kept. Of a larger one it is known that it was given, and with which status."`
	Keep        Duration `yaml:"keep" default:"24h" min:"1m" max:"8760h" doc:"How long a job's answer, and its idempotency key, are kept after its end. What has no end, and what is unknown, stays however old."`
	Deadline    Duration `yaml:"deadline" default:"24h" min:"1s" max:"8760h" doc:"How long a job may wait to be started if whoever brings it names no deadline; after that it is dead."`
	MaxDeadline Duration `yaml:"max_deadline" default:"168h" min:"1s" max:"8760h" doc:"The longest deadline that may be named; a longer one is cut to it."`
	Attempts    int      `yaml:"attempts" default:"5" min:"1" max:"1000" doc:"How often a job is tried in all, if it may be tried again; after that it is dead."`
	Pause       JobPause `yaml:"pause" doc:"How long it waits before it is tried again, spread from 0 to the pause."`
	Webhooks    Webhooks `yaml:"webhooks" doc:"Where the end of a job may be told. Default: nowhere, it is asked for."`
}

// JobShare is how much one tenant may have.
type JobShare struct {
	Waiting int   `yaml:"waiting" default:"10000" min:"1" max:"100000000" doc:"Jobs without an end."`
	Bytes   Bytes `yaml:"bytes" default:"256MiB" min:"64KiB" doc:"What they hold on disk."`
}

// JobPause is how long a job waits before it is tried again.
type JobPause struct {
	Base Duration `yaml:"base" default:"1s" min:"1ms" max:"24h" doc:"Before the second attempt; doubles with each."`
	Max  Duration `yaml:"max" default:"5m" min:"1ms" max:"24h" doc:"The longest."`
}

// Webhooks is where the end of a job may be told.
type Webhooks struct {
	Hosts    Words    `yaml:"hosts" items:"1000" doc:"Hosts, each with its port if that is not 443: hooks.example.com, or http://127.0.0.1:8081 for one without TLS. A job may name no other, and redirects are not followed."`
	Secret   Text     `yaml:"secret" doc:"What deliveries are signed with (HMAC-SHA256, as Standard Webhooks say); as whsec_BASE64, or text. Needed where hosts are named."`
	Timeout  Duration `yaml:"timeout" default:"10s" min:"10ms" max:"5m" doc:"How long one may take."`
	Attempts int      `yaml:"attempts" default:"8" min:"1" max:"100" doc:"How often one is tried; then it is given up, and the job still answers whoever asks."`
}

// Kept reports whether anything is kept as a job: jobs have a path, a class makes some of
// what it has no room for, or answers requests with a key only once.
func (c *Config) Kept() bool {
	return c.Jobs.Path != "" || slices.ContainsFunc(c.Classes, func(k Class) bool { return k.WhenFull.Policy == FullPersist || k.Keys.On() })
}

func (c *Config) persists() bool {
	return slices.ContainsFunc(c.Classes, func(k Class) bool { return k.WhenFull.Policy == FullPersist })
}

func (j *Jobs) fill(persists bool) {
	if persists {
		j.Path = cmp.Or(j.Path, "/v1/jobs")
	}
	j.Workers = cmp.Or(j.Workers, 8)
	j.PerTenant.Waiting = cmp.Or(j.PerTenant.Waiting, min(10_000, cmp.Or(j.Waiting, 10_000)))
	j.Waiting = cmp.Or(j.Waiting, max(1_000_000, j.PerTenant.Waiting))
	j.PerTenant.Bytes = cmp.Or(j.PerTenant.Bytes, min(256<<20, cmp.Or(j.Bytes, 256<<20)))
	j.Bytes = cmp.Or(j.Bytes, max(4<<30, j.PerTenant.Bytes))
	j.Body = cmp.Or(j.Body, 1<<20)
	j.Answer = cmp.Or(j.Answer, 1<<20)
	j.Keep = cmp.Or(j.Keep, Duration(24*3600e9)) // what Stripe keeps keys for, at least
	switch {
	case j.Deadline == 0 && j.MaxDeadline == 0:
		j.Deadline, j.MaxDeadline = Duration(24*3600e9), Duration(168*3600e9)
	case j.Deadline == 0:
		j.Deadline = min(Duration(24*3600e9), j.MaxDeadline)
	case j.MaxDeadline == 0:
		j.MaxDeadline = max(Duration(168*3600e9), j.Deadline)
	}
	j.Attempts = cmp.Or(j.Attempts, 5)
	j.Pause.Base = cmp.Or(j.Pause.Base, Duration(1e9))
	j.Pause.Max = cmp.Or(j.Pause.Max, max(Duration(300e9), j.Pause.Base))
	j.Webhooks.Timeout = cmp.Or(j.Webhooks.Timeout, Duration(10e9))
	j.Webhooks.Attempts = cmp.Or(j.Webhooks.Attempts, 8)
}

// jobs checks what several keys say together, and what hosts say.
func (k *checker) jobs(full *Config) {
	if !k.cfg.Kept() {
		return
	}
	d := full.Jobs
	if k.cfg.Ledger.URL.IsZero() {
		k.report(k.whoKeeps(), "add ledger: { url: \"sqlite:spillway.db\" }", "needs a ledger to be kept in")
	}
	if d.Path != "" && !strings.HasPrefix(d.Path, "/") || d.Path == "/" || strings.HasSuffix(d.Path, "/") || strings.ContainsAny(d.Path, "*{}?# ") {
		k.report("jobs.path", "write a path such as /v1/jobs", "is %s", quote(d.Path))
	}
	if d.Deadline > d.MaxDeadline {
		k.report("jobs.deadline", "lower it or raise max_deadline", "is %s, above max_deadline %s", d.Deadline, d.MaxDeadline)
	}
	if d.Pause.Base > d.Pause.Max {
		k.report("jobs.pause", "lower base or raise max", "has base %s, above max %s", d.Pause.Base, d.Pause.Max)
	}
	if len(d.Webhooks.Hosts) > 0 && d.Webhooks.Secret.IsZero() {
		k.missing("jobs.webhooks", "secret", "whoever is told must be able to tell that it was this gateway; write secret: ${WEBHOOK_SECRET}")
	}
	for _, h := range d.Webhooks.Hosts {
		if !validHook(h) {
			k.report("jobs.webhooks.hosts", "write a host such as hooks.example.com, or http://127.0.0.1:8081", "has %s, which is no host", quote(h))
		}
	}
}

// whoKeeps is the first key that wants something kept.
func (k *checker) whoKeeps() string {
	for _, c := range k.cfg.Classes {
		switch {
		case c.WhenFull.Policy == FullPersist:
			return join("classes", c.Name) + ".when_full"
		case c.Keys.On():
			return join("classes", c.Name) + ".keys"
		}
	}
	return "jobs"
}

func validHook(h string) bool {
	rest, _ := strings.CutPrefix(strings.TrimPrefix(h, "https://"), "http://")
	host, port, err := net.SplitHostPort(rest)
	if err != nil {
		host, port = rest, "443"
	}
	u, err := url.Parse("//" + rest)
	return err == nil && host != "" && validPort(port) && u.Path == "" && u.User == nil && !strings.ContainsAny(rest, " *?#")
}
