package text

import "strings"

// levels of a sparkline, from nothing to the top.
const levels = " .:-=+*#%@"

// Spark draws values as n characters, from nothing (space) to top (@). Where
// there are more values than characters each character is the mean of its part;
// fewer are stretched. A value above zero is never drawn as nothing.
func Spark(values []float64, n int, top float64) string {
	if len(values) == 0 || n <= 0 || !(top > 0) {
		return strings.Repeat(" ", max(0, n))
	}
	out := make([]byte, n)
	for i := range out {
		from := i * len(values) / n
		to := max(from+1, (i+1)*len(values)/n)
		var sum float64
		for _, v := range values[from:to] {
			sum += v
		}
		mean := sum / float64(to-from)
		level := int(mean/top*float64(len(levels)-1) + 0.5)
		if mean > 0 {
			level = max(level, 1)
		}
		out[i] = levels[min(max(level, 0), len(levels)-1)]
	}
	return string(out)
}
