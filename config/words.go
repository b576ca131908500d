package config

import (
	"slices"
	"strconv"
	"strings"
)

// Words is one word or a list of them.
type Words []string

// choice is a type whose values are a closed set of words.
type choice interface{ values() []string }

// Order is who is next inside a tenant's queue.
type Order string

// The orders; OrderAdaptive is the default.
const (
	OrderFIFO     Order = "fifo"
	OrderLIFO     Order = "lifo"
	OrderAdaptive Order = "adaptive"
)

func (Order) values() []string { return []string{"fifo", "lifo", "adaptive"} }

// Fairness is which tenant is next.
type Fairness string

// The fairness policies; FairDRR is the default where a tenant key is given.
const (
	FairFIFO     Fairness = "fifo"     // arrival order, tenants do not matter
	FairPriority Fairness = "priority" // Tenant.Order
	FairRR       Fairness = "rr"       // one each in turn
	FairWRR      Fairness = "wrr"      // by weight, counting requests
	FairDRR      Fairness = "drr"      // by weight, counting cost
)

func (Fairness) values() []string { return []string{"fifo", "priority", "rr", "wrr", "drr"} }

// LogFormat is how a log line looks.
type LogFormat string

// The log formats; LogText is the default.
const (
	LogText LogFormat = "text"
	LogJSON LogFormat = "json"
)

func (LogFormat) values() []string { return []string{"text", "json"} }

// LogLevel is the least severe line that is written.
type LogLevel string

func (LogLevel) values() []string { return []string{"debug", "info", "warn", "error"} }

// Switch is on or off (or true, false); zero is not written, which means the default.
type Switch string

// The states of a written switch.
const (
	On  Switch = "on"
	Off Switch = "off"
)

// On reports whether the switch is on. Ask it after [Config.WithDefaults].
func (s Switch) On() bool { return s == On }

func (s *Switch) parse(_, text string) error {
	switch text {
	case "on", "true":
		*s = On
	case "off", "false":
		*s = Off
	default:
		return bad("write on or off", "%s is neither on nor off", quote(text))
	}
	return nil
}

func (s Switch) format() string { return string(s) }
func (Switch) kind() string     { return "on, off" }
func (Switch) schema() map[string]any {
	return map[string]any{"enum": []any{"on", "off", true, false}}
}

// Mode is whether decisions are carried out.
type Mode struct {
	Kind    ModeKind
	Percent Percent // with ModePercent: of requests, or of sessions where there is a session key
}

// ModeKind is one of the ways a class can be run.
type ModeKind string

// The modes; ModeEnforce is the default.
const (
	ModeOff     ModeKind = "off"
	ModeShadow  ModeKind = "shadow"
	ModePercent ModeKind = "percent"
	ModeEnforce ModeKind = "enforce"
)

func (m *Mode) parse(tag, text string) error {
	switch k := ModeKind(text); k {
	case ModeOff, ModeShadow, ModeEnforce:
		*m = Mode{Kind: k}
		return nil
	}
	if strings.HasSuffix(text, "%") {
		m.Kind = ModePercent
		return m.Percent.parse(tag, text)
	}
	return bad("write off, shadow, a share such as 10%, or enforce", "%s is not a mode", quote(text))
}

func (m Mode) format() string {
	if m.Kind == ModePercent {
		return m.Percent.String()
	}
	return string(m.Kind)
}
func (Mode) kind() string { return "off, shadow, enforce or percent" }
func (Mode) schema() map[string]any {
	return anyOf(map[string]any{"enum": []any{"off", "shadow", "enforce"}}, Percent(0).schema())
}

func (s *Slots) parse(tag, text string) error {
	v, err := wholeNumber(tag, text)
	if err != nil {
		return err
	}
	s.Fixed = int(v)
	return nil
}

func (s Slots) format() string       { return strconv.Itoa(s.Fixed) }
func (s Slots) hasScalar() bool      { return s.Fixed != 0 }
func (Slots) kind() string           { return wholeKind }
func (s Slots) measure() float64     { return float64(s.Fixed) }
func (Slots) schema() map[string]any { return map[string]any{"type": "integer"} }

func (s *Service) parse(tag, text string) error { return s.Fixed.parse(tag, text) }
func (s Service) format() string                { return s.Fixed.format() }
func (s Service) hasScalar() bool               { return s.Fixed != 0 }
func (Service) kind() string                    { return "duration" }
func (Service) schema() map[string]any          { return Duration(0).schema() }

var fullPolicies = []string{"reject", "drop", "drop_oldest", "displace", "persist"}

func (w *WhenFull) parse(_, text string) error {
	switch {
	case text == "block":
		return bad("write { block: 50ms }", "block needs to know how long")
	case !slices.Contains(fullPolicies, text):
		return bad(oneOf(text, fullPolicies)+", or { block: 50ms }", "%s is not something to do when full", quote(text))
	}
	w.Policy = FullPolicy(text)
	return nil
}

func (w WhenFull) format() string  { return string(w.Policy) }
func (w WhenFull) hasScalar() bool { return w.Policy != "" && w.Block == 0 && w.Drop == 0 }
func (WhenFull) kind() string      { return strings.Join(fullPolicies, ", ") }
func (WhenFull) schema() map[string]any {
	return map[string]any{"enum": anys(fullPolicies)}
}

// finish derives Policy from the key that was written.
func (w *WhenFull) finish() error {
	switch {
	case w.Policy != "":
	case w.Block != 0 && w.Drop != 0:
		return bad("keep one", "block and drop exclude each other")
	case w.Block != 0:
		w.Policy = FullBlock
	case w.Drop == 204 || w.Drop == 503:
		w.Policy = FullDrop
	case w.Drop != 0:
		return bad("write 503 or 204; 202 would promise that the work is kept", "status %d is not for dropped work", w.Drop)
	default:
		return bad("write a word such as reject, { block: 50ms } or { drop: 204 }", "nothing is said")
	}
	return nil
}

// wholeNumber reads a plain decimal. YAML's octal, hexadecimal and underscored forms are
// refused: 010 is eight to it and ten to whoever wrote it.
func wholeNumber(tag, text string) (int64, error) {
	v, err := strconv.ParseInt(text, 10, 64)
	digits := strings.TrimPrefix(text, "-")
	switch {
	case strings.Contains(text, "${"):
		return 0, bad("${...} works in addresses, URLs and paths; write the number", "%s is not replaced here", quote(text))
	case tag == "!!str" && err == nil:
		return 0, bad("write "+text+" without quotes", "%s is text, not a number", quote(text))
	case allDigits(digits) && err != nil:
		return 0, bad("write a smaller number", "%s is too large", quote(text))
	case tag == "!!float":
		return 0, bad("write a whole number", "%s is not whole", quote(text))
	case tag != "!!int" || !allDigits(digits) || len(digits) > 1 && digits[0] == '0':
		return 0, bad("write a plain number such as 40", "%s is not a number", quote(text))
	}
	return v, nil
}

// oneOf is the fix for a word outside a closed set: the nearest if one is near, else all.
func oneOf(got string, words []string) string {
	if n := nearest(got, words); n != "" {
		return "did you mean " + n + "? (" + strings.Join(words, ", ") + ")"
	}
	return "write one of " + strings.Join(words, ", ")
}
