package plan

import "strings"

// planWhole draws the plan together once all parts are there.
func (m *maker) planWhole() {
	calls := 1.0
	for i := range m.classes {
		calls = max(calls, Amplification(m.classes[i].layers()...))
	}
	var fs figures
	m.plan.AmplificationMax = fs.add("amplification_max", calls, "calls", "largest product of attempts over the layers of a class",
		"every attempt fails at the bottom")
	m.plan.Figures = fs
	m.plan.Finding = m.finding()
}

// finding says the worst thing first: what does not fit, what can tip, what is
// not known, and only then that all is well.
func (m *maker) finding() string {
	var over, tips []string
	expected := false
	for i := range m.upstreams {
		u := &m.upstreams[i]
		expected = expected || u.expected() > 0
		switch u.state {
		case stateUnstable:
			over = append(over, u.Kind+" "+u.Name)
		case stateMetastable:
			tips = append(tips, u.Kind+" "+u.Name)
		}
	}
	for i := range m.classes {
		expected = expected || m.classes[i].Expect.Rate > 0
		if m.classes[i].overloaded {
			over = append(over, m.classes[i].where())
		}
	}
	for i := range m.quotas {
		if m.quotas[i].over {
			over = append(over, "quota "+m.quotas[i].Name)
		}
	}
	switch {
	case len(over) > 0:
		return "More is expected than can be served: " + strings.Join(over, ", ") + "."
	case len(tips) > 0:
		return "Works until one bad second, then stays broken (metastable): " + strings.Join(tips, ", ") + "."
	case !expected:
		return "No rate is expected (expect.rate), so this is capacity only; " + m.noted() + "."
	case len(m.plan.Warnings) > 0:
		return "The expected rate fits; " + m.noted() + "."
	}
	return "The expected rate fits, and no warnings."
}

func (m *maker) noted() string {
	return plural(int64(len(m.plan.Warnings)), "warning")
}
