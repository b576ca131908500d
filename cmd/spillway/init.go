package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/trial/propose"
)

func newInit() *cobra.Command {
	var (
		from, live, file string
		watch            time.Duration
		admin            adminClient
		o                propose.Options
	)
	c := &cobra.Command{
		Use:   "init",
		Short: "Propose a first configuration from an access log, a recording or a running gateway",
		Long: `Init reads what is known of a service's traffic and prints a configuration, with the
reasoning as comments: classes for the paths that matter, slots by Little's law where it is
known how long requests take, and what cannot be known said so. Nothing is written but to
stdout; look at it, correct it, and try it with plan and sim.`,
		Example: `  spillway init --from access.log > spillway.yaml
  spillway init --from access.log.gz --format 'nginx:$remote_addr [$time_local] "$request" $status $request_time'
  spillway init --from traffic.rec --upstream http://127.0.0.1:9001   # what serve --record wrote
  spillway init --from-live 127.0.0.1:9900 -c spillway.yaml --watch 1m`,
		RunE: func(c *cobra.Command, args []string) error {
			fromLive := c.Flags().Changed("from-live")
			if fromLive && len(args) == 1 { // a flag that may stand alone takes no word for its value
				live, args = args[0], nil
			}
			var p *propose.Proposal
			var err error
			switch {
			case (from != "") == fromLive || len(args) > 0:
				return usage(errors.New("say where from: --from access.log, or --from-live 127.0.0.1:9900"))
			case from != "":
				p, err = propose.FromTrace(from, o)
			default:
				admin.address = live
				p, err = proposeLive(c, &admin, watch, file, o)
			}
			if err != nil {
				return usage(err)
			}
			text, err := p.YAML()
			if err != nil {
				return failed(err)
			}
			if asJSON(c) {
				return failed(report.WriteJSON(c.OutOrStdout(), map[string]string{"yaml": string(text)}))
			}
			_, err = c.OutOrStdout().Write(text)
			return failed(err)
		},
	}
	f := c.Flags()
	f.StringVar(&from, "from", "", "an access log or a recording, gzipped or not: `FILE`")
	f.StringVar(&o.Format, "format", "auto", formatHelp)
	f.StringVar(&o.Mapping, "map", "", mapHelp)
	f.IntVar(&o.Classes, "most", 5, "at most so many classes besides the rest")
	f.StringVar(&o.Upstream, "upstream", "", "`URL` of the service; without it a place to write it is left")
	f.StringVar(&live, "from-live", "", "the admin listener of a gateway that runs: `[ADDRESS]`, 127.0.0.1:9900 unless said")
	f.Lookup("from-live").NoOptDefVal = "127.0.0.1:9900"
	f.StringVar(&admin.tokenFile, "token-file", "", "`FILE` with the admin token; without it the environment's "+adminTokenEnv)
	f.DurationVar(&watch, "watch", 10*time.Second, "how long a gateway is watched")
	f.StringVarP(&file, "config", "c", "", "with --from-live: the configuration `FILE` it runs, unless it has one class only")
	_ = c.MarkFlagFilename("from")
	return c
}

// proposeLive looks at a gateway twice.
func proposeLive(c *cobra.Command, admin *adminClient, watch time.Duration, file string, o propose.Options) (*propose.Proposal, error) {
	if watch < 100*time.Millisecond || watch > 24*time.Hour {
		return nil, fmt.Errorf("--watch %v: from 100ms to 24h", watch)
	}
	var cfg *config.Config
	var err error
	if file != "" {
		if cfg, err = loadConfig(c, file); err != nil {
			return nil, err
		}
	}
	before, err := pools(c.Context(), admin)
	if err != nil {
		return nil, err
	}
	if err := before.Enough(cfg); err != nil {
		return nil, err
	}
	began := time.Now()
	fmt.Fprintf(os.Stderr, "watching %s for %v\n", admin.address, watch)
	select {
	case <-c.Context().Done():
		return nil, context.Cause(c.Context())
	case <-time.After(watch):
	}
	after, err := pools(c.Context(), admin)
	if err != nil {
		return nil, err
	}
	return propose.FromLive(before, after, time.Since(began), cfg, o)
}

// pools asks a gateway for /debug/pools.
func pools(ctx context.Context, admin *adminClient) (*propose.Pools, error) {
	client, base, err := admin.client()
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/debug/pools?items=0", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	token, err := admin.token()
	if err != nil {
		return nil, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no gateway answers at %s: %w", admin.address, plain(err))
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, answerMost))
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the gateway answers %d: %.200s", res.StatusCode, body)
	}
	return propose.ParsePools(body)
}
