package main

import "golang.org/x/sys/unix"

// getTermios asks whether a file is a terminal.
const getTermios = unix.TCGETS
