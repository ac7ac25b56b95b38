package record

import (
	"fmt"

	"github.com/bourse-exchange/bourse"
)

// Frame is a run of commands as the journal keeps them: back to back, with
// sequences that follow each other and one time.
type Frame struct {
	First    bourse.Seq
	Count    int
	Time     bourse.Time
	Commands []byte
}

// Each reads the commands into cmd, one after the other, and calls visit for each.
// Errors are those of Decode and visit, with the command's sequence, and
// ErrMalformed for bytes behind the last one.
func (f *Frame) Each(cmd *bourse.Command, visit func() error) error {
	rest := f.Commands
	for i := range f.Count {
		seq := f.First + bourse.Seq(i)
		n, err := Decode(rest, cmd)
		if err == nil {
			cmd.Seq, cmd.Time = seq, f.Time
			err = visit()
		}
		if err != nil {
			return fmt.Errorf("command %d: %w", seq, err)
		}
		rest = rest[n:]
	}
	if len(rest) != 0 {
		return fmt.Errorf("frame at %d: %w", f.First, ErrMalformed)
	}
	return nil
}
