package trace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spillway-dev/spillway/workload"
	"github.com/spillway-dev/spillway/workload/trace"
)

// The real files, with the rows and spans that their README states.
func TestRealTraces(t *testing.T) {
	data := os.Getenv("SPILLWAY_DATA")
	if data == "" {
		t.Skip("skipped: SPILLWAY_DATA does not say where the public traces are")
	}
	utc := func(text string) time.Time {
		when, err := time.Parse(time.DateTime, text)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	for _, c := range []struct {
		file       string
		mapping    string
		rows, left int64
		offered    int
		start, end time.Time     // to the second; zero if the file has no dates
		span       time.Duration // rounded to the unit that is not zero in it
		round      time.Duration
		tenants    int
	}{
		{file: "azure-llm-2023/AzureLLMInferenceTrace_code.csv", rows: 8819, offered: 8819, start: utc("2023-11-16 18:17:03"), end: utc("2023-11-16 19:14:19"), span: 57 * time.Minute, round: time.Minute},
		{file: "azure-llm-2023/AzureLLMInferenceTrace_conv.csv", rows: 19366, offered: 19366, start: utc("2023-11-16 18:15:46"), end: utc("2023-11-16 19:14:08"), span: 58 * time.Minute, round: time.Minute},
		{file: "mooncake/conversation_trace.jsonl.gz", rows: 12031, offered: 12031, span: 59 * time.Minute, round: time.Minute},
		{file: "mooncake/synthetic_trace.jsonl.gz", rows: 3993, offered: 3993, span: 17 * time.Minute, round: time.Minute},
		{file: "nasa-http/nasa_19950701.tsv.gz", rows: 9999, offered: 9999, start: utc("1995-07-01 04:00:01"), span: 220 * time.Minute, round: 10 * time.Minute, tenants: 936},
		{file: "nasa-http/nasa_19950801.tsv.gz", rows: 9999, offered: 9999, start: utc("1995-08-01 04:00:01"), span: 475 * time.Minute, round: 5 * time.Minute, tenants: 853},
		{file: "llm-tenants/vtc_real.csv.gz", rows: 4500, left: 3000, offered: 1500, span: 10 * time.Minute, round: time.Minute, tenants: 27},
		{file: "llm-tenants/vtc_real.csv.gz", mapping: "only=scheduler:FCFS", rows: 4500, left: 3000, offered: 1500, span: 10 * time.Minute, round: time.Minute, tenants: 27},
		{file: "llm-tenants/vtc_overload.csv.gz", mapping: "only=-", rows: 4320, offered: 4320, tenants: 2},
		{file: "llm-tenants/vtc_overload_multi.csv.gz", mapping: "only=-", rows: 3024, offered: 3024, tenants: 8},
		{file: "llm-tenants/vtc_on_off_less.csv.gz", mapping: "only=-", rows: 2700, offered: 2700, tenants: 2},
		{file: "llm-tenants/vtc_poisson_short_long.csv.gz", mapping: "only=-", rows: 11400, offered: 11400, tenants: 2},
		{file: "azure-functions/Azure2021_200.csv", rows: 199, offered: 199, span: 20 * time.Minute, // of starts: the README's 21 are to the last end
			round: time.Minute, tenants: 13},
	} {
		t.Run(filepath.Base(c.file)+" "+c.mapping, func(t *testing.T) {
			var options trace.Options
			if c.mapping != "" {
				options.Mapping = must(trace.ParseMapping(c.mapping))
			}
			r := must(trace.Open(filepath.Join(data, c.file), options))
			defer r.Close()
			got := drain(t, r)
			if err := r.Err(); err != nil {
				t.Fatal(err)
			}
			s := r.Stats()
			if s.Rows != c.rows || s.Left != c.left || len(got) != c.offered || s.Damaged != 0 || s.Late != 0 {
				t.Errorf("%d rows, %d left out, %d offered, %d damaged, %d late; want %d, %d, %d, 0, 0", s.Rows, s.Left, len(got), s.Damaged, s.Late, c.rows, c.left, c.offered)
			}
			if !c.start.IsZero() && !s.Start.Truncate(time.Second).Equal(c.start) {
				t.Errorf("starts at %v, want %v", s.Start, c.start)
			}
			if c.start.IsZero() && !s.Start.IsZero() {
				t.Errorf("has no dates, but starts at %v", s.Start)
			}
			if end := s.Start.Add(s.Span).Truncate(time.Second); !c.end.IsZero() && !end.Equal(c.end) {
				t.Errorf("ends at %v, want %v", end, c.end)
			}
			if c.span > 0 && s.Span.Round(c.round) != c.span && s.Span.Truncate(c.round) != c.span {
				t.Errorf("lasts %v, want about %v", s.Span, c.span)
			}
			if c.tenants > 0 && r.Names().Tenants.Len()-1 != c.tenants {
				t.Errorf("has %d tenants, want %d", r.Names().Tenants.Len()-1, c.tenants)
			}
			for _, a := range got {
				if a.Cost < 1 || a.Service < 0 {
					t.Fatalf("an arrival %+v", a)
				}
			}
		})
	}

	// 1.35 billion requests, drawn as one in a hundred thousand.
	r := must(trace.Open(filepath.Join(data, "worldcup98/requests_per_minute.csv.gz"), trace.Options{Scale: 1e-5, Seed: 1}))
	defer r.Close()
	got := drain(t, r)
	s := r.Stats()
	if r.Err() != nil || s.Rows != 125_300 || s.Damaged != 0 {
		t.Errorf("worldcup98: %v, %d rows, %s", r.Err(), s.Rows, s)
	}
	if len(got) < 13_000 || len(got) > 14_000 { // 13,528 expected; the fractions are by chance
		t.Errorf("worldcup98: %d requests, want about 13,528", len(got))
	}
	if want := utc("1998-04-30 21:30:00"); !s.Start.Equal(want) {
		t.Errorf("worldcup98 starts at %v, want %v", s.Start, want)
	}
	if s.Span.Round(24*time.Hour) != 87*24*time.Hour {
		t.Errorf("worldcup98 lasts %v, want 87 days", s.Span)
	}
}

// The 1,352,804,107 requests of the world cup come to the last one, counted by
// the scaled-down sum of a scale that leaves no fraction.
func TestTheBusiestMinuteIsDrawnInFull(t *testing.T) {
	data := os.Getenv("SPILLWAY_DATA")
	if data == "" {
		t.Skip("skipped: SPILLWAY_DATA does not say where the public traces are")
	}
	m := must(trace.ParseMapping("only=minute_local:1998-07-07 21:41:00"))
	r := must(trace.Open(filepath.Join(data, "worldcup98/requests_per_minute.csv.gz"), trace.Options{Mapping: m}))
	defer r.Close()
	n := 0
	var a workload.Arrival
	for r.Next(&a) {
		n++
	}
	if n != 229_426 || a.At >= time.Minute {
		t.Errorf("%d requests, the last at %v; want 229,426 within a minute", n, a.At)
	}
}

// TestRealLogs: every request log loads, and what it is taken for, how many
// requests it has and from how many clients is what its README says.
func TestRealLogs(t *testing.T) {
	data := os.Getenv("SPILLWAY_DATA")
	if data == "" {
		t.Skip("skipped: SPILLWAY_DATA does not say where the public traces are")
	}
	const uwsgi = `pattern:[pid: $_|app: $_|req: $_/$_] $client ($_) {$_ vars in $request_bytes bytes} [$at] $method $path => generated $bytes bytes in $took (HTTP/$_ $status) $_`
	for _, c := range []struct {
		file, format string
		about        string
		offered      int
		other        int64
		clients      int // 0: not stated
		timed        bool
		least, most  time.Duration // of service times
	}{
		{file: "apache_combined.log.gz", about: "common or combined", offered: 9999, clients: 1753},
		{file: "shop_nginx_2019.log", about: "common or combined", offered: 1000, clients: 101},
		{file: "apache_common_small.log", about: "common or combined", offered: 3, clients: 1},
		{file: "iis_w3c.log", about: "W3C", offered: 210, other: 44, timed: true, least: 137 * time.Millisecond, most: 2411 * time.Millisecond},
		{file: "haproxy_http.log", about: "HAProxy", offered: 13, other: 4, timed: true, least: time.Millisecond, most: 2707 * time.Millisecond},
		{file: "caddy_json.log", about: "Caddy", offered: 4, other: 35, clients: 1, timed: true, least: 73140, most: 1674508},
		{file: "uwsgi.log", format: uwsgi, about: "pattern", offered: 19, timed: true, least: 68 * time.Microsecond, most: 129 * time.Millisecond},
	} {
		t.Run(c.file, func(t *testing.T) {
			r := must(trace.Open(filepath.Join(data, "access-logs", c.file), trace.Options{Format: c.format}))
			defer r.Close()
			all := drain(t, r)
			if err := r.Err(); err != nil {
				t.Fatal(err)
			}
			s := r.Stats()
			if len(all) != c.offered || s.Damaged != 0 || s.Other != c.other || r.Timed() != c.timed || !strings.Contains(r.About(), c.about) {
				t.Errorf("%d requests, %+v, timed %v, taken for %q", len(all), s, r.Timed(), r.About())
			}
			if clients := r.Names().Tenants.Len() - 1; c.clients > 0 && clients != c.clients {
				t.Errorf("%d clients, want %d", clients, c.clients)
			}
			if c.timed {
				least, most := all[0].Service, all[0].Service
				for _, a := range all {
					least, most = min(least, a.Service), max(most, a.Service)
				}
				if least != c.least || most != c.most {
					t.Errorf("served in %v to %v, want %v to %v", least, most, c.least, c.most)
				}
			}
		})
	}
	t.Run("a status is no request", func(t *testing.T) {
		_, err := trace.Open(filepath.Join(data, "access-logs", "nginx_plus_status.jsonl.gz"), trace.Options{})
		if err == nil || !strings.Contains(err.Error(), "no access log that is known") {
			t.Errorf("opened: %v", err)
		}
	})
}
