package main

import "syscall"

// stopSignal stops a process in its tracks, continueSignal lets it go on.
const stopSignal, continueSignal = syscall.SIGSTOP, syscall.SIGCONT
