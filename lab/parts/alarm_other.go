//go:build !linux

package parts

import "time"

// Alarm sleeps as Go does.
type Alarm struct{}

// NewAlarm returns one.
func NewAlarm() (*Alarm, error) { return &Alarm{}, nil }

// Sleep returns d later.
func (a *Alarm) Sleep(d time.Duration) error {
	time.Sleep(d)
	return nil
}
