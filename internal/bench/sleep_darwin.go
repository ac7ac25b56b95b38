package bench

import "time"

// punctual does nothing: this system has no slack to set for a thread.
func punctual() error { return nil }

// sleep sleeps by the runtime's timers, which is less exact than on Linux.
func sleep(d time.Duration) { time.Sleep(d) }
