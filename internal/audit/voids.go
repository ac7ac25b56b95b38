package audit

import (
	"fmt"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// Void is a command that an operator took out of effect.
type Void struct {
	Seq    bourse.Seq `json:"seq"`
	Reason string     `json:"reason"`
	Time   string     `json:"time"`
	// Operator is the system's user id of who did it.
	Operator uint32 `json:"uid"`
}

// voided lists the commands out of effect, in the order in which they were taken out.
func (x *Exchange) voided() []Void {
	list := make([]Void, 0, len(x.Voids.All()))
	for _, v := range x.Voids.All() {
		list = append(list, Void{v.Seq, v.Reason, v.Time.Std().Format(time.RFC3339Nano), v.Operator})
	}
	return list
}

// checkVoids refuses voids of commands that the journal does not have: it had them when
// they were voided.
func (x *Exchange) checkVoids(last bourse.Seq) error {
	for _, v := range x.Voids.All() {
		if v.Seq > last {
			return fmt.Errorf("%w: command %d is void, and the journal ends at %d", journal.ErrCut, v.Seq, last)
		}
	}
	return nil
}
