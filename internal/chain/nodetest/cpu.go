package nodetest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// CPU returns the CPU time of the node's process so far.
func (n *Node) CPU() time.Duration { return CPU(n.t, n.cmd.Process.Pid) }

// CPU returns the CPU time of a process so far, as Linux tells it in hundredths of a second.
func CPU(t testing.TB, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	// The name of the program in parentheses may have spaces. The 12th and the 13th field behind it are the times of
	// user and system.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	var ticks uint64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100
}
