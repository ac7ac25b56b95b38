package main

import "runtime"

// spread doubles the number of threads of the runtime, unless GOMAXPROCS is set. The
// writer of the journal spends most of its time in syncs, and the runtime resumes it only
// when one of its threads is free; with more threads the kernel, which knows how long each
// has waited, decides instead. At 100,000 orders a second on two processors the median
// order reached the disk in 3.5 times a sync, instead of 4.8.
func spread() {
	if !environment("GOMAXPROCS") {
		const each = 2
		runtime.GOMAXPROCS(each * runtime.GOMAXPROCS(0))
	}
}
