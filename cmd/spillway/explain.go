package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/observe/decisions"
	"github.com/spillway-dev/spillway/report"
)

func newExplain() *cobra.Command {
	var admin adminClient
	var class, tenant, why, since string
	var limit int
	c := &cobra.Command{
		Use:   "explain [ID]",
		Short: "Say why a request was refused or answered late, and what would have let it through",
		Long: `Explain asks a running gateway for its decisions: about the request with an id, which every
answer carries as X-Request-Id, or about those that match what the flags say, the newest first. For
each it tells the rule, the state that the request met, and which figure, alone, would have let it
through: slots, a larger waiting room, a weight, a deadline. The gateway remembers the latest few
thousand decisions, shared out fairly, so that a flood of one kind does not push out the rest.`,
		Example: `  spillway explain 2a7slr16u47ix
  spillway explain --class checkout --reason queue_full --limit 3
  spillway explain --tenant acme --since 5m --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			q := url.Values{}
			if len(args) > 0 {
				q.Set("id", args[0])
			}
			for name, value := range map[string]string{"class": class, "tenant": tenant, "reason": why, "since": since, "limit": strconv.Itoa(limit)} {
				if c.Flags().Changed(name) { // order does not matter: Encode sorts
					q.Set(name, value)
				}
			}
			var found gateway.Explained
			status, err := admin.get(c.Context(), "/explain?"+q.Encode(), &found)
			switch {
			case err != nil:
				return err
			case status != http.StatusOK:
				return failed(fmt.Errorf("the gateway answers %d", status))
			case asJSON(c):
				if err := report.WriteJSON(c.OutOrStdout(), &found); err != nil {
					return failed(err)
				}
			}
			if len(found.Decisions) == 0 {
				return failed(fmt.Errorf("nothing is remembered of %s: it was served, or was too long ago, or never came here", asked(args)))
			}
			if asJSON(c) {
				return nil
			}
			return failed(tellDecisions(c, found.Decisions))
		},
	}
	admin.flags(c)
	c.Flags().StringVar(&class, "class", "", "of the class `NAME`")
	c.Flags().StringVar(&tenant, "tenant", "", "of the tenant `NAME`")
	c.Flags().StringVar(&why, "reason", "", "for the `REASON`, for example queue_full")
	c.Flags().StringVar(&since, "since", "", "since so long ago (5m), or since an instant (2026-03-01T12:00:00Z)")
	c.Flags().IntVar(&limit, "limit", decisions.LimitDefault, fmt.Sprintf("how many at most, up to %d", decisions.LimitMost))
	return c
}

func asked(args []string) string {
	if len(args) > 0 {
		return fmt.Sprintf("request %q", args[0])
	}
	return "such requests"
}

func tellDecisions(c *cobra.Command, all []decisions.Decision) error {
	for i := range all {
		if i > 0 {
			fmt.Fprintln(c.OutOrStdout())
		}
		if _, err := fmt.Fprint(c.OutOrStdout(), all[i].Text()); err != nil {
			return err
		}
	}
	return nil
}
