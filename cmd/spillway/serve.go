package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
)

func newServe() *cobra.Command {
	var (
		path, upstream, listen, admin string
		recording                     string
		slots                         int
		o                             gateway.Options
	)
	c := &cobra.Command{
		Use:   "serve",
		Short: "Stand in front of a service: the gateway",
		Long: `Serve is a reverse proxy for HTTP/1.1, HTTP/2, gRPC, server-sent events and WebSocket that
decides at the moment of submission what is served, what waits and what is refused. It
drains on SIGTERM or interrupt, and takes a changed file over by itself, on SIGHUP and on
POST /reload. On SIGUSR2 it starts itself anew, as the file that its path names by then, hands
over its sockets and finishes what it has: no connection is refused. Health, metrics and what waits are on the admin listener.`,
		Example: `  spillway serve --upstream http://127.0.0.1:9001 --slots 40
  spillway serve -c spillway.yaml
  spillway serve -c spillway.yaml --record traffic.rec   # for sim --trace traffic.rec
  curl -s http://127.0.0.1:9900/debug/pools`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := serveConfig(c, path, upstream, slots)
			if err != nil {
				return err
			}
			addresses := func(cfg *config.Config) error {
				if listen != "" {
					cfg.Listen = config.Listen(listen)
				}
				if admin != "" {
					cfg.Admin.Address = config.Literal(admin)
				}
				if recording != "" {
					cfg.Record.File = recording
				}
				return cfg.Validate()
			}
			if err := addresses(cfg); err != nil {
				return usage(err)
			}
			if upstream == "" {
				o.Load = func() (*config.Config, error) {
					cfg, err := config.Load(path)
					if err != nil {
						return nil, err
					}
					return cfg, addresses(cfg)
				}
			}
			o.Version = versionText()
			g, err := gateway.New(cfg, o)
			if err != nil {
				return usage(err)
			}
			defer obey(c.Context(), g)()
			defer succession(c.Context(), g)()
			return failed(g.Serve(c.Context()))
		},
	}
	configFlag(c, &path)
	f := c.Flags()
	f.StringVar(&upstream, "upstream", "", "protect the service at this `URL`, without a file")
	f.IntVar(&slots, "slots", 0, "with --upstream: how many requests may run at once; 0: 20")
	f.StringVar(&listen, "listen", "", "address for callers instead of the file's, as in :8080")
	f.StringVar(&admin, "admin", "", "address for the admin listener instead of the file's")
	f.StringVar(&recording, "record", "", "write a trace of the traffic to `FILE`, for sim, load and demo to replay: no content, tenants and sessions as salted hashes")
	f.DurationVar(&o.DrainDelay, "drain-delay", 0, "how long to go on as before after /readyz says no")
	f.DurationVar(&o.DrainLimit, "drain-limit", gateway.DrainLimitDefault, "how long what runs is waited for at the end")
	f.DurationVar(&o.StreamIdle, "stream-idle", gateway.StreamIdleDefault, "how long an answer that has begun may stand still")
	f.BoolVar(&o.LongWay, "long-way", false, "have net/http pass plain requests too, see docs/gateway.md")
	f.BoolVar(&o.Pprof, "pprof", false, "add /debug/pprof to the admin listener")
	return c
}

// serveConfig is the file, or what --upstream stands for.
func serveConfig(c *cobra.Command, path, upstream string, slots int) (*config.Config, error) {
	if upstream == "" {
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) && !c.Flags().Changed("config") {
			return nil, usage(errors.New("nothing to serve: name a file with -c, or a service with --upstream URL"))
		}
		return loadConfig(c, path)
	}
	if c.Flags().Changed("config") {
		return nil, usage(errors.New("--upstream and -c are two ways to say the same: give one of them"))
	}
	cfg, err := config.ForUpstream(upstream, slots)
	return cfg, usage(err)
}
