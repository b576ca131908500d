package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/report"
	"github.com/spillway-dev/spillway/trust"
)

func newKeys() *cobra.Command {
	c := &cobra.Command{
		Use:   "keys",
		Short: "Make, list and revoke API keys",
		Long: `Keys works on the file that trust.keys.file of a configuration names. The file holds what keys
hash to and no key: what create prints is shown once. A running gateway reads the file again
within a second of a change.`,
		Example: `  spillway keys create --file keys.json --name ci --tenant acme --role partner
  spillway keys ls     --file keys.json
  spillway keys revoke --file keys.json 3xk7q2ab`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newKeysCreate(), newKeysLs(), newKeysRevoke())
	return c
}

func keysFlag(c *cobra.Command, path *string) {
	c.Flags().StringVarP(path, "file", "f", "keys.json", "the keys' `FILE`")
	_ = c.MarkFlagFilename("file", "json")
}

func newKeysCreate() *cobra.Command {
	var path, name, tenant, role string
	var valid time.Duration
	c := &cobra.Command{
		Use:   "create",
		Short: "Make a key and print it, once",
		Long: `Create makes a key of 256 random bits, adds its hash to the file, and prints it: nobody can
find it again. The file is made if there is none, readable by its owner alone.`,
		Example: `  spillway keys create --name ci
  spillway keys create --file /etc/spillway/keys.json --name shop --tenant acme --role partner --valid 2160h`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := trust.CheckNames(name, tenant, role); err != nil {
				return usage(fmt.Errorf("--%w", err))
			}
			if valid < 0 {
				return usage(fmt.Errorf("--valid %v: write how long the key is good for, as in 2160h, or leave it out", valid))
			}
			f, err := trust.LoadOrNewKeys(path)
			if err != nil {
				return failed(err)
			}
			now := time.Now()
			var expires *time.Time
			if valid > 0 {
				at := now.Add(valid).UTC().Truncate(time.Second)
				expires = &at
			}
			key, entry := trust.NewKey(name, tenant, role, now, expires)
			f.Keys = append(f.Keys, entry)
			if err := f.Save(path); err != nil {
				return failed(err)
			}
			if asJSON(c) {
				return failed(report.WriteJSON(c.OutOrStdout(), struct {
					Key string `json:"key"`
					keyDoc
				}{key, docOf(&entry, now)}))
			}
			fmt.Fprintf(c.ErrOrStderr(), "key %s for %s is in %s; it is shown once:\n", entry.ID, entry.Name, path)
			fmt.Fprintln(c.OutOrStdout(), key)
			return nil
		},
	}
	keysFlag(c, &path)
	c.Flags().StringVar(&name, "name", "", "whom the key is for; what a caller with it is called")
	c.Flags().StringVar(&tenant, "tenant", "", "whose requests its are; default: its name's own")
	c.Flags().StringVar(&role, "role", "", "role of the configuration that bounds what it may claim; default: verified")
	c.Flags().DurationVar(&valid, "valid", 0, "how long it is good for; default: until it is revoked")
	return c
}

// keyDoc is a key as it is listed.
type keyDoc struct {
	ID      string     `json:"id"`
	Name    string     `json:"name"`
	Tenant  string     `json:"tenant"`
	Role    string     `json:"role"`
	State   string     `json:"state"`
	Created time.Time  `json:"created"`
	Expires *time.Time `json:"expires"`
	Revoked *time.Time `json:"revoked"`
}

func docOf(e *trust.Entry, now time.Time) keyDoc {
	return keyDoc{e.ID, e.Name, e.Tenant, e.Role, e.State(now), e.Created, e.Expires, e.Revoked}
}

func newKeysLs() *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:   "ls",
		Short: "List the keys of a file",
		Example: `  spillway keys ls
  spillway keys ls --file /etc/spillway/keys.json --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			f, err := trust.LoadKeys(path)
			if err != nil {
				return failed(err)
			}
			now := time.Now()
			if asJSON(c) {
				docs := make([]keyDoc, 0, len(f.Keys))
				for i := range f.Keys {
					docs = append(docs, docOf(&f.Keys[i], now))
				}
				return failed(report.WriteJSON(c.OutOrStdout(), map[string]any{"keys": docs}))
			}
			return failed(listKeys(c.OutOrStdout(), f, now))
		},
	}
	keysFlag(c, &path)
	return c
}

func listKeys(w io.Writer, f *trust.KeyFile, now time.Time) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "id\tname\ttenant\trole\tstate\tcreated\texpires")
	for i := range f.Keys {
		e := &f.Keys[i]
		expires := "-"
		if e.Expires != nil {
			expires = e.Expires.Format(time.DateOnly)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.ID, e.Name, orDash(e.Tenant), orDash(e.Role), e.State(now), e.Created.Format(time.DateOnly), expires)
	}
	return t.Flush()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func newKeysRevoke() *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:   "revoke ID...",
		Short: "Revoke keys: they work no more, within a second",
		Example: `  spillway keys revoke 3xk7q2ab
  spillway keys revoke --file /etc/spillway/keys.json 3xk7q2ab q7mmv4zp`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, ids []string) error {
			f, err := trust.LoadKeys(path)
			if err != nil {
				return failed(err)
			}
			for _, id := range ids {
				if !f.Revoke(id, time.Now()) {
					return failed(fmt.Errorf("%s has no key %q that is not revoked; see: spillway keys ls --file %s", path, id, path))
				}
			}
			if err := f.Save(path); err != nil {
				return failed(err)
			}
			if asJSON(c) {
				return failed(report.WriteJSON(c.OutOrStdout(), map[string]any{"revoked": ids}))
			}
			fmt.Fprintf(c.OutOrStdout(), "revoked: %d\n", len(ids))
			return nil
		},
	}
	keysFlag(c, &path)
	return c
}
