package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spillway-dev/spillway/config"
	"github.com/spillway-dev/spillway/policy/plan"
	"github.com/spillway-dev/spillway/trial/latency"
	"github.com/spillway-dev/spillway/workload"
)

// measurements are the flags that say what calls took.
type measurements struct {
	file  replay
	class string
}

func (m *measurements) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&m.file.trace, "latency", "", "propose timeouts from what calls took: a recording of serve --record, an access log, a table of requests, or one duration a line: `FILE`")
	f.StringVar(&m.file.format, "format", "auto", formatHelp)
	f.StringVar(&m.file.mapping, "map", "", mapHelp)
	f.StringVar(&m.class, "class", "", "of which `CLASS` the measured calls are; default: as recorded, as their paths match, or the only one")
	_ = c.MarkFlagFilename("latency")
}

// read gives the classes of in what was measured of them.
func (m *measurements) read(c *cobra.Command, cfg *config.Config, in *plan.Input) error {
	if m.file.trace == "" {
		if m.class != "" {
			return errors.New("--class says of which class the calls of --latency are: add --latency FILE")
		}
		return nil
	}
	samples, err := m.samples(c, cfg)
	if err != nil {
		return err
	}
	used := false
	for i := range in.Classes {
		for j := range samples {
			if s := &samples[j]; s.Class == in.Classes[i].Name && s.Count > 0 {
				in.Classes[i].Measured = plan.Measured{Times: s.Sorted(), Count: s.Count, From: filepath.Base(m.file.trace)}
				used = true
			}
		}
	}
	if !used {
		return fmt.Errorf("%s: nothing in it says how long a call of a class of the file took; say of which class it is with --class NAME", m.file.trace)
	}
	return nil
}

func (m *measurements) samples(c *cobra.Command, cfg *config.Config) ([]latency.Sample, error) {
	class, err := m.only(cfg)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(m.file.trace)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, err := io.ReadFull(f, head)
	if err != nil && n == 0 {
		return nil, fmt.Errorf("%s: %w", m.file.trace, plain(err))
	}
	if latency.IsList(head[:n]) {
		if class == "" {
			return nil, fmt.Errorf("%s: a list does not say of which class its calls are: add --class NAME", m.file.trace)
		}
		s, err := latency.FromList(io.MultiReader(strings.NewReader(string(head[:n])), f))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.file.trace, err)
		}
		s.Class = class
		return []latency.Sample{s}, nil
	}
	return m.traced(c, cfg, class)
}

// traced reads a recording, an access log or a table.
func (m *measurements) traced(c *cobra.Command, cfg *config.Config, class string) ([]latency.Sample, error) {
	m.file.speed, m.file.scale = 1, 1
	r, err := m.file.open(c, workload.NewNames(), 1, cfg, m.class)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if !r.Timed() {
		return nil, fmt.Errorf("%s: it does not say how long requests took; for a table say which column does with --map service=COLUMN", m.file.trace)
	}
	samples, err := latency.FromTrace(r)
	warnMissing(c, r)
	for i := range samples {
		if m.class != "" || samples[i].Class == "" {
			samples[i].Class = class
		}
	}
	return samples, err
}

// only is the class named, or the only one there is; empty where there are several.
func (m *measurements) only(cfg *config.Config) (string, error) {
	if m.class == "" {
		if len(cfg.Classes) == 1 {
			return cfg.Classes[0].Name, nil
		}
		return "", nil
	}
	for _, c := range cfg.Classes {
		if c.Name == m.class {
			return m.class, nil
		}
	}
	return "", fmt.Errorf("--class %s: the file has no such class", m.class)
}

// percentage is a share on the command line, between 0 and 100.
type percentage float64

func (p *percentage) String() string {
	return strconv.FormatFloat(float64(*p)*100, 'f', -1, 64) + "%"
}

// Type is what help calls it.
func (*percentage) Type() string { return "PERCENT" }

// Set reads 0.1%.
func (p *percentage) Set(text string) error {
	digits, signed := strings.CutSuffix(strings.TrimSpace(text), "%")
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil || !signed || !(x > 0 && x < 100) {
		return errors.New("write a share above 0% and below 100%, as in 0.1%")
	}
	*p = percentage(x / 100)
	return nil
}
