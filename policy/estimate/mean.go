package estimate

import "time"

// meanWindow is the number of samples over which Mean averages, a power of
// two. At 128 one sample of a hundred times the mean moves the estimate by
// less than 80 %, and a lasting change is followed to 95 % after 3 x 128
// samples. A longer window is steadier and slower.
const (
	meanShift  = 7
	meanWindow = 1 << meanShift
)

// meanSampleMax keeps the window's sum inside an int64: 2^7 x 2^55 = 2^62.
const meanSampleMax = time.Duration(1) << 55

// Mean is a moving average of durations: exact over the first 128 samples,
// exponentially weighted after that. The zero value has no samples.
type Mean struct {
	count int64
	sum   int64 // of the first samples; later the average times the window
}

// Add takes one sample into the average. Negative samples count as zero.
func (m *Mean) Add(d time.Duration) {
	x := int64(min(max(d, 0), meanSampleMax))
	if m.count < meanWindow {
		m.count++
		m.sum += x
		return
	}
	m.sum += x - m.sum>>meanShift
}

// Samples returns how many samples the average rests on, at most the window.
func (m *Mean) Samples() int { return int(m.count) }

// Value returns the average, or 0 without samples.
func (m *Mean) Value() time.Duration {
	switch m.count {
	case 0:
		return 0
	case meanWindow:
		return time.Duration(m.sum >> meanShift)
	}
	return time.Duration(m.sum / m.count)
}
