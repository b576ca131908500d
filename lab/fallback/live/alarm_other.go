//go:build !linux

package live

import "time"

// alarm sleeps as Go does.
type alarm struct{}

func newAlarm() (*alarm, error) { return &alarm{}, nil }

// sleep returns d later.
func (a *alarm) sleep(d time.Duration) error {
	time.Sleep(d)
	return nil
}
