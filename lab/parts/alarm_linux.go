package parts

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Alarm sleeps to within some 50 µs where Go's timers, whose waits the runtime rounds to
// milliseconds, are up to one late; and, unlike a thread that sleeps in the kernel, holds
// nothing that other goroutines need. It is one goroutine's at a time.
type Alarm struct {
	fd   int
	file *os.File
}

// NewAlarm returns one.
func NewAlarm() (*Alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("timer: %w", err)
	}
	return &Alarm{fd, os.NewFile(uintptr(fd), "timer")}, nil
}

// Sleep returns d later.
func (a *Alarm) Sleep(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	if err := unix.TimerfdSettime(a.fd, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}, nil); err != nil {
		return fmt.Errorf("timer: %w", err)
	}
	var expirations [8]byte
	_, err := a.file.Read(expirations[:])
	return err
}
