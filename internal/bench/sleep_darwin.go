package bench

import "time"

// punctual does nothing: this system has no timer slack per thread.
func punctual() error { return nil }

// sleep uses the runtime's timers, which are less exact than nanosleep on Linux.
func sleep(d time.Duration) { time.Sleep(d) }
