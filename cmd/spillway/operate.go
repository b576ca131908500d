package main

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/policy/boundary"
	"github.com/spillway-dev/spillway/report"
)

func newOperate() *cobra.Command {
	var admin adminClient
	var d time.Duration
	var why string
	c := &cobra.Command{
		Use:   "operate CLASS off|degrade|refuse",
		Short: "Switch a class of a gateway that runs by hand, for a time",
		Long: `Operate gives up a class on purpose, to keep the others, or while something behind it is being
repaired. What is offered meanwhile is answered at once with reason operator and told when
to come back; what waits and runs goes on. refuse refuses; degrade takes the next cheaper
answer, and refuses where the class has none. It ends by itself after --for; off ends it at
once. Who asked and why is in the gateway's log and in /debug/pools.`,
		Example: `  spillway operate search refuse --for 10m --why 'index rebuild'
  spillway operate search off`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			mode, err := boundary.ParseOperatorMode(args[1])
			if err != nil {
				return usage(err)
			}
			if mode != boundary.AsConfigured && !c.Flags().Changed("for") {
				return usage(fmt.Errorf("say for how long, as in --for 10m: it ends by itself"))
			}
			q := url.Values{"class": {args[0]}, "mode": {args[1]}, "why": {why}}
			if mode != boundary.AsConfigured {
				q.Set("for", d.String())
			}
			var done gateway.Operation
			status, err := admin.ask(c.Context(), "/operate?"+q.Encode(), &done)
			switch {
			case err != nil:
				return err
			case status != http.StatusOK:
				return &exit{code: exitFailed}
			case asJSON(c):
				return failed(report.WriteJSON(c.OutOrStdout(), &done))
			}
			_, err = fmt.Fprintln(c.OutOrStdout(), done)
			return failed(err)
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			switch len(args) {
			case 0:
				return admin.classNames(c.Context()), cobra.ShellCompDirectiveNoFileComp
			case 1:
				return []string{"off", "degrade", "refuse"}, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
	}
	admin.flags(c)
	c.Flags().DurationVar(&d, "for", 0, "for how long, 1s to 24h")
	c.Flags().StringVar(&why, "why", "", "what for, for the log and for whoever looks later")
	return c
}
