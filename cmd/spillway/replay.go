package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/trial"
	"github.com/spillway-dev/spillway/workload"
	"github.com/spillway-dev/spillway/workload/trace"
)

// replay are the flags that say which recording is offered, and as what.
type replay struct {
	trace, format, mapping string
	speed, scale           float64
}

// Texts of flags that several commands have.
const (
	traceHelp  = "offer a `FILE` instead: a recording of serve --record, an access log, or a table of requests; gzipped or not"
	formatHelp = "what the file is: auto, common, haproxy, w3c, caddy, envoy, nginx:'LOG_FORMAT', apache:'LOGFORMAT', pattern:'TEXT WITH $names', or mapping for a table"
	mapHelp    = "what its columns mean, as in at=TIMESTAMP,tenant=host,cost=A+B; of an access log as in tenant=user,cost=bytes; known traces need none"
)

func (o *replay) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.trace, "trace", "", traceHelp)
	f.StringVar(&o.format, "format", "auto", formatHelp)
	f.StringVar(&o.mapping, "map", "", mapHelp)
	f.Float64Var(&o.speed, "speed", 1, "the recording's time passes so many times as fast")
	f.Float64Var(&o.scale, "scale", 1, "so many times as many requests as recorded")
	_ = c.MarkFlagFilename("trace")
}

// open returns the recording, or nil if none was named, and says on stderr what
// it was taken for. With a configuration, an access log's requests are of the
// classes that take them; class, where it is not empty, is what all are.
func (o *replay) open(c *cobra.Command, names *workload.Names, seed uint64, cfg *config.Config, class string) (*trace.Reader, error) {
	if o.trace == "" {
		return nil, nil
	}
	options := trace.Options{Names: names, Seed: max(seed, 1), Speed: o.speed, Scale: o.scale, Format: o.format}
	var blind, blindGaps []string
	if cfg != nil {
		options.Tenants, options.Config = cfg.TenantNames(), cfg.RulesDigest()
		if class == "" {
			options.Classify, blind = trial.Classify(cfg)
		}
		weigh, unseen, err := trial.Weigh(cfg, cmp.Or(class, cfg.Classes[0].Name))
		if err != nil {
			return nil, err
		}
		options.Weigh, blindGaps = weigh, unseen
	}
	if o.mapping != "" {
		m, err := trace.ParseMapping(o.mapping)
		if err != nil {
			return nil, err
		}
		options.Mapping = m
	}
	r, err := trace.Open(o.trace, options)
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(c.ErrOrStderr(), "trace: taken for", r.About())
	if cfg != nil && class == "" {
		for _, name := range r.Recorded() {
			if !slices.ContainsFunc(cfg.Classes, func(c config.Class) bool { return c.Name == name }) {
				fmt.Fprintf(c.ErrOrStderr(), "trace: the configuration has no class %q; replay the recording as one class with --class NAME if it has requests of it\n", name)
			}
		}
	}
	if r.IsLog() && len(blind) > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "trace: it has no headers, so nothing is taken for what matches on them: %s\n", strings.Join(blind, ", "))
	}
	if r.IsLog() && len(blindGaps) > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "trace: it has no headers, so those count as empty that the gap asks for of: %s\n", strings.Join(blindGaps, ", "))
	}
	return r, nil
}

// warnAlike tells of which classes the gap cannot be worked out, because the load
// says nothing of its requests that it could depend on.
func warnAlike(c *cobra.Command, cfg *config.Config, r *trace.Reader) {
	if alike := trial.Alike(cfg); len(alike) > 0 && (r == nil || !r.IsLog()) {
		fmt.Fprintf(c.ErrOrStderr(), "sim: this load names no paths, so a gap that depends on the request counts for nothing, and all requests are taken alike, of: %s\n", strings.Join(alike, ", "))
	}
}

// warnMissing tells what of the recording could not be used.
func warnMissing(c *cobra.Command, r *trace.Reader) {
	if r == nil {
		return
	}
	if s := r.Stats().String(); s != "" {
		fmt.Fprintln(c.ErrOrStderr(), "warning: trace:", s)
	}
}
