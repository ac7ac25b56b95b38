package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ticks is the number of clock ticks per second in /proc, on every Linux.
const ticks = 100

// cpuOf returns the CPU time of a process, zero for PID zero.
func cpuOf(pid int) (time.Duration, error) {
	if pid == 0 {
		return 0, nil
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name in parentheses may contain any character.

	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	const user, system = 11, 12
	if len(fields) <= system {
		return 0, fmt.Errorf("process %d: %q is no status", pid, text)
	}

	u, err := strconv.ParseInt(fields[user], 10, 64)
	if err != nil {
		return 0, err
	}
	s, err := strconv.ParseInt(fields[system], 10, 64)
	return time.Duration(u+s) * time.Second / ticks, err
}

// cpu returns the CPU time of this process.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// residentOf returns the resident memory of a process in bytes.
func residentOf(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if size, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(size), " kB"), 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("process %d has no memory", pid)
}
