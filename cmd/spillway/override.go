package main

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/report"
)

func newOverride() *cobra.Command {
	c := &cobra.Command{
		Use:   "override",
		Short: "Give a class of a gateway that runs other limits, for a time",
		Long: `Override puts other limits in the place of those that the file gives a class: what cannot wait
for the file. It ends by itself after --for, and then the file's are back. It lies on top of
whatever the file says, so that it outlives reloads; it is checked as a file is, and cancels
nothing that waits or runs. Who set it and why is in the gateway's log and in ls.`,
		Example: `  spillway override set checkout slots=20 budget.latency=200ms --for 15m --why 'database failover'
  spillway override ls
  spillway override clear checkout --why 'failover is over'`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newOverrideSet(), newOverrideLs(), newOverrideClear())
	return c
}

func newOverrideSet() *cobra.Command {
	var admin adminClient
	var d time.Duration
	var why string
	c := &cobra.Command{
		Use:   "set CLASS KEY=VALUE...",
		Short: "Override limits of a class until --for is over",
		Long: `Set overrides limits of a class, in the words of the file: ` + strings.Join(config.Overridable(), ", ") + `.
A class has one override at a time; a second takes the place of the first.`,
		Example: `  spillway override set checkout slots=20 --for 15m --why 'database failover'
  spillway override set search mode=shadow --for 2h --why 'is it us?' --json`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			q, err := overrideQuery(args[0], args[1:])
			switch {
			case err != nil:
				return usage(err)
			case !c.Flags().Changed("for"):
				return usage(fmt.Errorf("say for how long, as in --for 10m: it ends by itself"))
			case why == "":
				return usage(fmt.Errorf("say what for, as in --why 'database failover': whoever finds it at night will want to know"))
			}
			q.Set("for", d.String())
			q.Set("why", why)
			var done gateway.Override
			return overrideDone(c, &admin, q, &done, func() string { return done.String() })
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return admin.classNames(c.Context()), cobra.ShellCompDirectiveNoFileComp
			}
			return overrideKeys(args[1:]), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		},
	}
	admin.flags(c)
	c.Flags().DurationVar(&d, "for", 0, fmt.Sprintf("for how long, 1s to %v", gateway.OverrideMost))
	c.Flags().StringVar(&why, "why", "", "what for; it stands in the log, in ls and in /debug/pools")
	return c
}

func newOverrideClear() *cobra.Command {
	var admin adminClient
	var why string
	c := &cobra.Command{
		Use:     "clear CLASS",
		Short:   "End the override of a class before its time",
		Example: `  spillway override clear checkout --why 'failover is over'`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			q := url.Values{"class": args, "lift": {"1"}, "why": {why}}
			var done gateway.Lifted
			return overrideDone(c, &admin, q, &done, func() string { return done.Class + ": as the file says" })
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return admin.overriddenNames(c.Context()), cobra.ShellCompDirectiveNoFileComp
		},
	}
	admin.flags(c)
	c.Flags().StringVar(&why, "why", "", "what for, for the log and for whoever looks later")
	return c
}

func newOverrideLs() *cobra.Command {
	var admin adminClient
	c := &cobra.Command{
		Use:   "ls",
		Short: "List the overrides in force, and what was done before",
		Example: `  spillway override ls
  spillway override ls --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var all gateway.OverrideList
			status, err := admin.get(c.Context(), "/overrides", &all)
			switch {
			case err != nil:
				return err
			case status != http.StatusOK:
				return failed(fmt.Errorf("the gateway answers %d", status))
			case asJSON(c):
				return failed(report.WriteJSON(c.OutOrStdout(), &all))
			}
			return failed(all.WriteText(c.OutOrStdout()))
		},
	}
	admin.flags(c)
	return c
}

// overrideQuery is what is asked of the gateway, so far as it can be held against
// the format here: values are checked there, beside the rest of the file.
func overrideQuery(class string, pairs []string) (url.Values, error) {
	q := url.Values{"class": {class}}
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		switch {
		case !ok || value == "":
			return nil, fmt.Errorf("%q: write KEY=VALUE, as in slots=20", pair)
		case !slices.Contains(config.Overridable(), key):
			return nil, fmt.Errorf("%q cannot be overridden; there are %s", key, strings.Join(config.Overridable(), ", "))
		case q.Has(key):
			return nil, fmt.Errorf("%s is given twice; keep one", key)
		}
		q.Set(key, value)
	}
	return q, nil
}

// overrideDone asks for a change and says what was done.
func overrideDone(c *cobra.Command, admin *adminClient, q url.Values, done any, line func() string) error {
	status, err := admin.ask(c.Context(), "/override?"+q.Encode(), done)
	switch {
	case err != nil:
		return err
	case status != http.StatusOK:
		return failed(fmt.Errorf("the gateway answers %d", status))
	case asJSON(c):
		return failed(report.WriteJSON(c.OutOrStdout(), done))
	}
	_, err = fmt.Fprintln(c.OutOrStdout(), line())
	return failed(err)
}

// overrideKeys are the keys that are not given yet, for the shell.
func overrideKeys(given []string) (keys []string) {
	for _, key := range config.Overridable() {
		if !slices.ContainsFunc(given, func(pair string) bool { return strings.HasPrefix(pair, key+"=") }) {
			keys = append(keys, key+"=")
		}
	}
	return keys
}
