package bench

import (
	"time"

	"golang.org/x/sys/unix"
)

// punctual sets this thread's timer slack to 1 ns; the default wakes it up to 50 µs late.
func punctual() error { return unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) }

// sleep uses nanosleep: the runtime's timers are up to a millisecond late on an idle
// process. A signal may end it early.
func sleep(d time.Duration) {
	t := unix.NsecToTimespec(d.Nanoseconds())
	_ = unix.Nanosleep(&t, nil)
}
