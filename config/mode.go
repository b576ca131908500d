package config

// ParseMode reads a class's mode as a file writes it: off, shadow, a share such
// as 10%, or enforce.
func ParseMode(text string) (Mode, error) {
	var m Mode
	err := m.parse("!!str", text)
	return m, err
}

// WithMode is a copy in which every class is in that mode.
func (c *Config) WithMode(m Mode) *Config {
	out := c.WithDefaults()
	for i := range out.Classes {
		out.Classes[i].Mode = m
	}
	return out
}

// shareOfWhom warns of a share of which nobody can say that he is in it.
func (k *checker) shareOfWhom(c Class, at string) {
	if c.Mode.Kind == ModePercent && c.Session.Key.IsZero() && c.Tenant.Key.IsZero() {
		k.advise(join(at, "mode"), "add session: { key: ... }", "is a share of requests: nothing names a session or a tenant, so one caller is refused now and let through then")
	}
}
