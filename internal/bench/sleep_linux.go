package bench

import (
	"time"

	"golang.org/x/sys/unix"
)

// punctual lets the system wake this thread late by no more than its clock's step; it
// would be late by 50 microseconds.
func punctual() error { return unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) }

// sleep sleeps in the system: the runtime's timers are late by up to a millisecond when
// nothing else goes on. Woken early, it is early by less than that.
func sleep(d time.Duration) {
	t := unix.NsecToTimespec(d.Nanoseconds())
	_ = unix.Nanosleep(&t, nil)
}
