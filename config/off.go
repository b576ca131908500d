package config

// What is written as keys or as the word off: backoff, ejection.

// readOff reads the word.
func readOff(text, fix string) error {
	switch text {
	case "off":
		return nil
	case "": // of a mapping with nothing in it
		return bad(fix, "says nothing")
	}
	return bad(fix, "%s is neither off nor keys", quote(text))
}

func formatOff(off bool) string {
	if off {
		return "off"
	}
	return ""
}

func offSchema() map[string]any { return map[string]any{"const": "off"} }
