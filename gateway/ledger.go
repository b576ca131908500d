package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/config/assemble"
	"github.com/spillway-dev/spillway/ledger"
	"github.com/spillway-dev/spillway/ledger/stores"
	"github.com/spillway-dev/spillway/policy/job"
	"github.com/spillway-dev/spillway/policy/quota"
)

// ledgerWait is how long a ledger may take to be opened, and to be told something
// at a start or a reload.
const ledgerWait = time.Minute

// openLedger opens the ledger that is configured, under a name that is this process's
// alone, and brings it the file's quotas.
func (g *Gateway) openLedger(cfg *config.Config) error {
	ctx, cancel := context.WithTimeout(context.Background(), ledgerWait)
	defer cancel()
	s, err := stores.Open(ctx, cfg.Ledger.URL.Value())
	if err != nil {
		return fmt.Errorf("the ledger: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	l, err := ledger.Open(ctx, s, fmt.Sprintf("%s-%d-%s", host, os.Getpid(), rand.Text()[:8]))
	if err != nil {
		return errors.Join(fmt.Errorf("the ledger: %w", err), s.Close())
	}
	g.ledger = l
	if err := g.bringQuotas(cfg); err != nil {
		g.ledger = nil
		return errors.Join(err, l.Close())
	}
	return nil
}

var onOther = map[config.OtherConfig]ledger.OnOther{
	config.OtherRefuse: ledger.Refuse, config.OtherAdopt: ledger.Adopt, config.OtherReplace: ledger.Replace,
}

// bringQuotas brings the quotas of a configuration to the ledger, and says what became
// of them where they are not simply the same. The ledger's count.
func (g *Gateway) bringQuotas(cfg *config.Config) error {
	if g.ledger == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), ledgerWait)
	defer cancel()
	is, came, err := g.ledger.Configure(ctx, assemble.Quotas(cfg), onOther[cfg.WithDefaults().Ledger.OnOtherConfig])
	if other := new(ledger.OtherTerms); errors.As(err, &other) {
		return fmt.Errorf("%w (ledger.on_other_config: adopt or replace)", other)
	}
	if err != nil {
		return fmt.Errorf("the ledger: %w", err)
	}
	switch came {
	case ledger.Adopted:
		g.log.Warn("the ledger holds other quotas, which count instead of the file's", "version", is.Version, "by", is.By)
	case ledger.Replaced:
		g.log.Warn("the ledger's quotas are the file's now, for every gateway", "version", is.Version)
	}
	return g.lacksQuotas(cfg)
}

// lacksQuotas returns which class goes by a quota that the ledger does not hold.
func (g *Gateway) lacksQuotas(cfg *config.Config) error {
	quotas, version := g.ledger.Quotas()
	for _, c := range cfg.Classes {
		for _, name := range c.Quota {
			if !slices.ContainsFunc(quotas, func(q quota.Quota) bool { return q.Name == name }) {
				return fmt.Errorf("class %s goes by quota %s, which the ledger does not hold (version %d)", c.Name, name, version)
			}
		}
	}
	return nil
}

// joinLedger has the gateway count as alive to the others on its ledger, and look after
// what is left of those that are not.
func (g *Gateway) joinLedger() error {
	ctx, cancel := context.WithTimeout(context.Background(), ledgerWait)
	defer cancel()
	l := g.config().Ledger
	if _, alone := l.SQLite(); alone {
		g.orphanJobs(func(string) bool { return true })
	}
	return g.ledger.Join(ctx, ledger.Fleet{
		Heartbeat: l.Heartbeat.D(), DeadAfter: l.DeadAfter.D(),
		Dead: func(owners []string, released, unknown int, gone func(string) bool) {
			g.log.Warn("processes on the ledger are gone", "owners", owners, "released", released, "unknown", unknown)
			g.orphanJobs(gone)
		},
		Renamed: func(was, is string) {
			g.log.Warn("this process was taken for dead; what it had started is unknown", "was", was, "is", is)
		},
		Terms: func(t ledger.Terms) {
			g.log.Warn("another gateway has replaced the quotas, which count at once", "version", t.Version, "by", t.By)
			if err := g.lacksQuotas(g.config()); err != nil {
				g.log.Error("the quotas do not fit the classes", "error", err)
			}
		},
		Failed: func(err error) { g.log.Warn("the ledger does not answer", "error", err) },
	})
}

// orphanJobs ends what processes that are gone have left of jobs.
func (g *Gateway) orphanJobs(gone func(string) bool) {
	if g.jobs == nil {
		return
	}
	rules := func(string) job.Rules { return g.jobs.Rules }
	n, err := g.ledger.OrphanJobs(context.Background(), gone, rules, "its process is gone")
	if n > 0 || err != nil {
		g.log.Warn("jobs whose process is gone were looked at", "jobs", n, "error", err)
	}
}

// sweepEvery is how often calls that are over are forgotten.
const sweepEvery = time.Minute

// sweepLedger forgets calls whose end has been known for long, until ctx ends.
func (g *Gateway) sweepLedger(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if n, err := g.ledger.Sweep(ctx, g.config().Ledger.Keep.D()); err != nil {
			g.log.Warn("calls that are over could not be forgotten", "removed", n, "error", err)
		}
	}
}
