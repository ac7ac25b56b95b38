package audit

import (
	"crypto/sha256"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/anchor"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// comparison compares a journal with its anchored record.
type comparison struct {
	known *anchor.Record
	// missing maps sequences to heads whose frame has not been seen yet.
	missing map[bourse.Seq]journal.Tip
	wrong   []string
}

// compare starts a comparison. A nil known never differs.
func (x *Exchange) compare(known *anchor.Record) (*comparison, error) {
	c := &comparison{known: known, missing: map[bourse.Seq]journal.Tip{}}
	if known == nil {
		return c, nil
	}
	if err := x.Identity.Check(known.Identity); err != nil {
		return nil, fmt.Errorf("anchor: %w", err)
	}

	if known.Newest.Tip.Last > 0 {
		c.missing[known.Newest.Tip.Last] = known.Newest.Tip
	}
	for _, h := range known.States {
		c.missing[h.Tip.Last] = h.Tip
	}
	digest, ok := x.Voids.Digest(known.Newest.Voids)
	if !ok || known.Newest.Voids > 0 && digest != known.Newest.Void {
		c.find("the file voids has %d entries; %d others are anchored", len(x.Voids.All()), known.Newest.Voids)
	}
	return c, nil
}

func (c *comparison) find(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// frame compares a frame of the journal.
func (c *comparison) frame(last bourse.Seq, chain journal.Hash) {
	head, ok := c.missing[last]
	if !ok {
		return
	}
	delete(c.missing, last)
	if head.Chain != chain {
		c.find("the anchor has %s, and the journal another frame there (chain %x)", anchor.At(head), chain[:8])
	}
}

// state compares the state after a command.
func (c *comparison) state(e *engine.Engine) {
	if c.known == nil {
		return
	}
	head := c.known.State(e.Seq())
	if head == nil {
		return
	}
	if got := journal.Hash(e.StateHash()); got != head.State {
		c.find("the anchor has the state %x at command %d, and the replay %x", head.State[:8], e.Seq(), got[:8])
	}
}

// snapshot compares a snapshot.
func (c *comparison) snapshot(s *journal.Snapshot) {
	if c.known == nil {
		return
	}
	head := c.known.State(s.Header.Tip.Last)
	if head == nil {
		return
	}
	section, _ := s.Section(sequencer.EngineSection)
	if got := journal.Hash(sha256.Sum256(section)); got != head.State {
		c.find("the anchor has the state %x at command %d, and the snapshot there %x", head.State[:8], head.Tip.Last,
			got[:8])
	}
}

// end ends a comparison with a journal that starts at since. Earlier heads cannot be
// compared.
func (c *comparison) end(since bourse.Seq, tip journal.Tip) {
	for at, head := range c.missing {
		if at >= since {
			c.find("the anchor has %s, and the journal ends at %s", anchor.At(head), anchor.At(tip))
		}
	}
}

// err returns the first difference as an error, or nil.
func (c *comparison) err() error {
	if len(c.wrong) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", journal.ErrCut, c.wrong[0])
}
