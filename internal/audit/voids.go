package audit

import (
	"fmt"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// Void is a command that an operator voided.
type Void struct {
	Seq    bourse.Seq `json:"seq"`
	Reason string     `json:"reason"`
	Time   string     `json:"time"`
	// Operator is the operator's user id in the system.
	Operator uint32 `json:"uid"`
}

// voided lists the void commands, in the order of voiding.
func (x *Exchange) voided() []Void {
	list := make([]Void, 0, len(x.Voids.All()))
	for _, v := range x.Voids.All() {
		list = append(list, Void{v.Seq, v.Reason, v.Time.Std().Format(time.RFC3339Nano), v.Operator})
	}
	return list
}

// checkVoids returns ErrCut if a void command is missing in the journal: the journal had
// it when it was voided.
func (x *Exchange) checkVoids(last bourse.Seq) error {
	for _, v := range x.Voids.All() {
		if v.Seq > last {
			return fmt.Errorf("%w: command %d is void, and the journal ends at %d", journal.ErrCut, v.Seq, last)
		}
	}
	return nil
}
