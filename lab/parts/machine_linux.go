package parts

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/spillway-dev/spillway/report"
)

// machineTime reads the first line of /proc/stat (proc_stat(5)); zero where it cannot.
func machineTime() jiffies {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return jiffies{}
	}
	var user, nice, system, idle, wait, irq, soft, stolen uint64
	if _, err := fmt.Sscanf(string(text), "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &irq, &soft, &stolen); err != nil {
		return jiffies{}
	}
	return jiffies{user + nice + system + idle + wait + irq + soft + stolen, idle + wait, stolen}
}

// loadOf is the load average of the last minute.
func loadOf() report.Number {
	text, err := os.ReadFile("/proc/loadavg")
	var load float64
	if _, scan := fmt.Sscan(string(text), &load); err != nil || scan != nil {
		return report.None()
	}
	return report.Number(load)
}

// cpuTime is what this process has used.
func cpuTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
