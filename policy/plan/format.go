package plan

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// num writes x for a reader: three significant digits, thousands separated.
func num(x float64) string {
	switch a := math.Abs(x); {
	case math.IsNaN(x):
		return "unknown"
	case math.IsInf(x, 0):
		return "no limit"
	case a >= 1e15 || (a > 0 && a < 1e-4):
		return strconv.FormatFloat(x, 'g', 3, 64)
	case a >= 999.5:
		return thousands(strconv.FormatFloat(x, 'f', 0, 64))
	case a >= 99.95:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case a >= 9.995:
		return trimZeros(strconv.FormatFloat(x, 'f', 1, 64))
	case a >= 0.9995:
		return trimZeros(strconv.FormatFloat(x, 'f', 2, 64))
	default:
		return trimZeros(strconv.FormatFloat(x, 'f', 4, 64))
	}
}

// rate, seconds, dur, size and percent are numbers with their units.

func rate(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return num(x)
	}
	return num(x) + "/s"
}

func seconds(s float64) string {
	switch {
	case math.IsInf(s, 0):
		return "never"
	case math.IsNaN(s):
		return "unknown"
	case s > 0 && s < 1:
		return num(float64(s*1e3)) + " ms"
	}
	return num(s) + " s"
}

func dur(d time.Duration) string { return seconds(d.Seconds()) }

func size(bytes float64) string {
	for _, u := range []struct {
		name string
		of   float64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if bytes >= u.of {
			return num(bytes/u.of) + " " + u.name
		}
	}
	return num(bytes) + " B"
}

func percent(share float64) string { return num(float64(share*100)) + " %" }

// count writes an integer of any size in full, with thousands separated.
func count(n int64) string { return thousands(strconv.FormatInt(n, 10)) }

// plural is "1 slot", "12 slots".
func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return count(n) + " " + word + "s"
}

func thousands(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

func trimZeros(s string) string {
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// value writes a figure's value with its unit.
func (f Figure) value() string {
	x := float64(f.Value)
	switch f.Unit {
	case "s":
		return seconds(x)
	case "/s":
		return rate(x)
	case "B":
		if f.Value.Known() {
			return size(x)
		}
		return num(x)
	case "":
		return num(x)
	}
	if !f.Value.Known() {
		return num(x)
	}
	if x == 1 {
		return "1 " + strings.TrimSuffix(f.Unit, "s")
	}
	return num(x) + " " + f.Unit
}
