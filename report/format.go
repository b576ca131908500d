package report

import (
	"math"
	"strconv"
	"strings"
)

// FormatCount writes a count with its thousands separated: 1,234,567.
func FormatCount(n int64) string {
	if n < 0 {
		return "-" + FormatCount(-n)
	}
	return thousands(strconv.FormatInt(n, 10))
}

// Format writes a figure with three significant digits and its thousands
// separated, a dash where there is none. The unit belongs beside it.
func Format(n Number) string {
	f := float64(n)
	switch {
	case !n.Known():
		return "-"
	case n.String() == "0":
		return "0"
	case f < 0:
		return "-" + Format(-n)
	case f < 1e-3:
		return strconv.FormatFloat(f, 'f', 6, 64)
	}
	decimals := 2 - int(math.Floor(math.Log10(f)))
	if decimals <= 0 {
		scale := math.Pow10(-decimals)
		return thousands(strconv.FormatFloat(math.Round(f/scale)*scale, 'f', 0, 64))
	}
	s := strconv.FormatFloat(f, 'f', decimals, 64)
	if len(strings.Replace(s, ".", "", 1)) > 3 && f >= 1 { // 9.996 became 10.00
		s = strings.TrimSuffix(s[:len(s)-1], ".")
	}
	return s
}

// FormatMs writes a duration given in ms with its unit, in seconds from one
// second on.
func FormatMs(n Number) string {
	switch {
	case !n.Known():
		return "-"
	case n >= 1000:
		return Format(n/1000) + " s"
	default:
		return Format(n) + " ms"
	}
}

// FormatRate writes a rate with its unit: 398/s.
func FormatRate(n Number) string {
	if !n.Known() {
		return "-"
	}
	return Format(n) + "/s"
}

// FormatPercent writes a share (0 to 1) in percent to one decimal: 50.2 %.
func FormatPercent(share Number) string {
	if !share.Known() {
		return "-"
	}
	return strconv.FormatFloat(float64(share*100), 'f', 1, 64) + " %"
}

func thousands(digits string) string {
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
