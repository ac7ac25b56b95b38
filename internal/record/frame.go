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

// Ahead is the number of commands that a frame looks ahead for cancels.
const Ahead = 32

// Each decodes the commands into cmd, one after the other, and calls visit for each. If
// expect is not nil, it is called before every Ahead commands with the orders that these
// cancel. Errors are those of Decode and visit, with the command's sequence, and
// ErrMalformed for bytes behind the last command.
func (f *Frame) Each(cmd *bourse.Command, expect func([]bourse.OrderID), visit func() error) error {
	var canceled []bourse.OrderID
	if expect != nil {
		canceled = make([]bourse.OrderID, 0, min(f.Count, Ahead))
	}

	rest := f.Commands
	for i := range f.Count {
		if i%Ahead == 0 && expect != nil {
			expect(appendCanceled(canceled, rest, min(f.Count-i, Ahead)))
		}
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

// appendCanceled appends the orders that the first records of b cancel. It stops at a
// malformed record, which fails later when it is decoded.
func appendCanceled(ids []bourse.OrderID, b []byte, count int) []bourse.OrderID {
	var c bourse.Command
	for range count {
		body, whole := first(b)
		if !whole {
			break
		}
		if bourse.CommandKind(b[4]) == bourse.CommandCancel && decodeCancel(body, &c) {
			ids = append(ids, c.Order)
		}
		b = b[headerSize+len(body):]
	}
	return ids
}
