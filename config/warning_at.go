package config

// WarningAt is a warning at a place of the file, such as upstreams.app, from whoever
// knows more than this package does. what follows the place, as in "is idle".
func (c *Config) WarningAt(path, what, fix string) Warning {
	file, p := c.src.find(path)
	return Warning{File: file, Line: p.line, Column: p.column, Path: path, What: path + " " + what, Fix: fix}
}
