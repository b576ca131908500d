package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/gateway"
	"github.com/spillway-dev/spillway/gateway/jobs"
	"github.com/spillway-dev/spillway/report"
)

func newJobs() *cobra.Command {
	c := &cobra.Command{
		Use:   "jobs",
		Short: "Bring work that is done when its turn comes, and ask what became of it",
		Long: `Jobs brings requests that a gateway is to make when their turn comes, lists them, and takes
them back. It asks a gateway that runs, through its admin listener; callers use the gateway's
own path (jobs.path). A job that was accepted is on disk. See docs/jobs.md.`,
		Example: `  spillway jobs submit /mail --data '{"to": "a@example.com"}' --key order-4711
  spillway jobs get job_06H2P4O3GUOTMFO9EI6TASK9J7LAQS91
  spillway jobs ls --state dead`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newJobsSubmit(), newJobsGet(), newJobsLs(), newJobsCancel(), newJobsResolve())
	return c
}

func newJobsSubmit() *cobra.Command {
	var admin adminClient
	var data, key string
	var headers []string
	var s gateway.Submission
	c := &cobra.Command{
		Use:   "submit PATH",
		Short: "Bring a request that is to be made when its turn comes",
		Long: `Submit brings a request for a path, as its caller would make it. It returns once the job is on
disk. The same key with the same request is the same job, however often it is brought.`,
		Example: `  spillway jobs submit /mail --data '{"to": "a@example.com"}' --header 'Content-Type: application/json' --key order-4711
  spillway jobs submit /report --data @query.json --deadline 1h --webhook https://hooks.example.com/done
  spillway jobs submit /index --method PUT --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			body, err := dataOf(data, c.InOrStdin())
			if err != nil {
				return usage(err)
			}
			s.Request.Path, s.Request.Base64 = args[0], body
			if s.Request.Headers, err = headersOf(headers); err != nil {
				return usage(err)
			}
			text, err := json.Marshal(&s)
			if err != nil {
				return usage(err)
			}
			h := http.Header{}
			if key != "" {
				h.Set(jobs.HeaderKey, key)
			}
			return jobAnswer(c, &admin, http.MethodPost, "/jobs", text, h)
		},
	}
	admin.flags(c)
	f := c.Flags()
	f.StringVar(&data, "data", "", "the request's body; @FILE reads it from a file, @- from standard input")
	f.StringVar(&s.Request.Method, "method", "POST", "the request's method")
	f.StringVar(&s.Request.Host, "host", "", "the request's host, where classes go by it")
	f.StringArrayVar(&headers, "header", nil, "a header of the request, as in 'Content-Type: application/json'; may be repeated")
	f.StringVar(&key, "key", "", "idempotency key: the same key is the same job")
	f.StringVar(&s.Deadline, "deadline", "", "how long it may wait to be started, as in 1h30m; default: jobs.deadline")
	f.StringVar(&s.Webhook, "webhook", "", "`URL` that is told its end, at one of the hosts in jobs.webhooks")
	return c
}

// dataOf is a body as curl takes it.
func dataOf(data string, in io.Reader) ([]byte, error) {
	switch name, is := strings.CutPrefix(data, "@"); {
	case !is:
		return []byte(data), nil
	case name == "-":
		return io.ReadAll(in)
	default:
		return os.ReadFile(name)
	}
}

func headersOf(all []string) (map[string]string, error) {
	h := make(map[string]string, len(all))
	for _, text := range all {
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return nil, fmt.Errorf("--header %q: write 'Name: value'", text)
		}
		h[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return h, nil
}

func newJobsGet() *cobra.Command {
	var admin adminClient
	c := &cobra.Command{
		Use:   "get ID",
		Short: "What became of a job",
		Example: `  spillway jobs get job_06H2P4O3GUOTMFO9EI6TASK9J7LAQS91
  spillway jobs get job_06H2P4O3GUOTMFO9EI6TASK9J7LAQS91 --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return jobAnswer(c, &admin, http.MethodGet, "/jobs/"+url.PathEscape(args[0]), nil, nil)
		},
	}
	admin.flags(c)
	return c
}

func newJobsCancel() *cobra.Command {
	var admin adminClient
	c := &cobra.Command{
		Use:   "cancel ID",
		Short: "Take a job back",
		Long: `Cancel takes a job back that waits. One that runs is not stopped, since then nobody would know
what became of it; it is not tried again. One that is unknown ends only by evidence (resolve).`,
		Example: `  spillway jobs cancel job_06H2P4O3GUOTMFO9EI6TASK9J7LAQS91`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return jobAnswer(c, &admin, http.MethodDelete, "/jobs/"+url.PathEscape(args[0]), nil, nil)
		},
	}
	admin.flags(c)
	return c
}

func newJobsResolve() *cobra.Command {
	var admin adminClient
	var known, notStarted bool
	var evidence string
	c := &cobra.Command{
		Use:   "resolve ID",
		Short: "End by evidence what nobody knows the end of",
		Long: `Resolve ends a job that is unknown: it was sent, and there is no answer. With --not-started it
waits for its turn again; with --known it is over. How that is known is written beside it.`,
		Example: `  spillway jobs resolve job_06H2P4O3GUOTMFO9EI6TASK9J7LAQS91 --not-started --evidence "not in the service's log of 12:00"
  spillway jobs resolve job_06H2P4O3GUOTMFO9EI6TASK9J7LAQS91 --known --evidence "the mail is in the outbox"`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case known == notStarted:
				return usage(errors.New("say what is known: --known (it ran and is over) or --not-started"))
			case evidence == "":
				return usage(errors.New("say how it is known, with --evidence TEXT"))
			}
			q := url.Values{"evidence": {evidence}}
			if notStarted {
				q.Set("notstarted", "1")
			}
			return jobAnswer(c, &admin, http.MethodPost, "/jobs/"+url.PathEscape(args[0])+"/resolve?"+q.Encode(), nil, nil)
		},
	}
	admin.flags(c)
	c.Flags().BoolVar(&known, "known", false, "it ran and is over")
	c.Flags().BoolVar(&notStarted, "not-started", false, "it never ran: it waits for its turn again")
	c.Flags().StringVar(&evidence, "evidence", "", "how that is known, in words")
	return c
}

func newJobsLs() *cobra.Command {
	var admin adminClient
	var class, tenant, state, after string
	var limit int
	var keys bool
	c := &cobra.Command{
		Use:   "ls",
		Short: "List jobs, newest first",
		Example: `  spillway jobs ls --state dead
  spillway jobs ls --tenant acme --limit 200
  spillway jobs ls --keys --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			q := url.Values{"limit": {strconv.Itoa(limit)}}
			for name, value := range map[string]string{"class": class, "tenant": tenant, "state": state, "after": after} {
				if value != "" {
					q.Set(name, value)
				}
			}
			if keys {
				q.Set("keys", "1")
			}
			var list gateway.JobList
			status, err := admin.get(c.Context(), "/jobs?"+q.Encode(), &list)
			switch {
			case err != nil:
				return err
			case status != http.StatusOK:
				return failed(fmt.Errorf("the gateway answers %d", status))
			case asJSON(c):
				return failed(report.WriteJSON(c.OutOrStdout(), &list))
			}
			return failed(writeJobs(c.OutOrStdout(), &list))
		},
	}
	admin.flags(c)
	f := c.Flags()
	f.StringVar(&class, "class", "", "only of this class")
	f.StringVar(&tenant, "tenant", "", "only of this tenant")
	f.StringVar(&state, "state", "", "only in this state: waiting, running, unknown, done, dead or cancelled")
	f.StringVar(&after, "after", "", "go on after this `ID`, as the end of a list says")
	f.IntVar(&limit, "limit", 50, "how many at most, 1 to 1000")
	f.BoolVar(&keys, "keys", false, "requests with an idempotency key too, which are kept as jobs are")
	return c
}

func writeJobs(w io.Writer, list *gateway.JobList) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tCLASS\tTENANT\tSTATE\tREASON\tATTEMPTS\tACCEPTED\tSTATUS")
	for _, j := range list.Jobs {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", j.ID, j.Class, dash(strconv.QuoteToASCII(j.Tenant)), j.State, dash(j.Reason), j.Attempts, j.Accepted.Format(time.RFC3339), dash(strconv.FormatInt(j.Status, 10)))
	}
	if err := t.Flush(); err != nil || list.After == "" {
		return err
	}
	_, err := fmt.Fprintf(w, "there may be more: --after %s\n", list.After)
	return err
}

// dash stands for nothing.
func dash(s string) string {
	if s == "" || s == "0" || s == `""` {
		return "-"
	}
	return s
}

// jobAnswer asks for a job or a change of one and says how it is then.
func jobAnswer(c *cobra.Command, admin *adminClient, method, path string, body []byte, header http.Header) error {
	var answer struct {
		jobs.State
		Title  string `json:"title"` // of a problem
		Detail string `json:"detail"`
	}
	status, err := admin.send(c.Context(), method, path, body, header, &answer)
	switch {
	case err != nil:
		return err
	case status >= 300:
		return failed(fmt.Errorf("%s: %s", answer.Title, answer.Detail))
	case asJSON(c):
		return failed(report.WriteJSON(c.OutOrStdout(), &answer.State))
	}
	return failed(writeJob(c.OutOrStdout(), &answer.State))
}

func writeJob(w io.Writer, j *jobs.State) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(t, "%s\t%s\n", name, value)
		}
	}
	at := func(when time.Time) string {
		if when.IsZero() {
			return ""
		}
		return when.Format(time.RFC3339Nano)
	}
	line("id", j.ID)
	line("class", j.Class)
	if j.Tenant != "" {
		line("tenant", strconv.QuoteToASCII(j.Tenant))
	}
	line("state", j.State)
	line("reason", j.Reason)
	line("attempts", strconv.FormatInt(j.Attempts, 10))
	line("accepted", at(j.Accepted))
	line("start by", at(j.Deadline))
	line("ended", at(j.End))
	if j.Status != 0 {
		line("status", strconv.FormatInt(j.Status, 10))
	}
	if j.Cancelled {
		line("cancelled", "it is not tried again")
	}
	line("evidence", j.Evidence)
	line("webhook", j.Webhook)
	return t.Flush()
}
