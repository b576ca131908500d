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
