package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

// TestIsFull takes a full disk for what may be tried again, and a failed sync never.
func TestIsFull(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false}, {syscall.EIO, false}, {full, true}, {fmt.Errorf("copying: %w", full), true},
		{fmt.Errorf("%w: %w", ErrSync, full), false}, {errors.Join(full, ErrSync), false},
	} {
		if got := IsFull(c.err); got != c.want {
			t.Errorf("%v: %t", c.err, got)
		}
	}
}
