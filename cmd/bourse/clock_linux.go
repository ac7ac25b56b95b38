package main

import "golang.org/x/sys/unix"

// clockSynchronized reports whether the machine's clock is synchronised, if the system
// knows.
func clockSynchronized() (synchronized, known bool) {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	return state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0, err == nil
}
