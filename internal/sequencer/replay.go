package sequencer

import (
	"errors"
	"io"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// Replay applies the journal after the engine's last command, at a start, before Write
// and Apply are called; no tickets wait. progress, if not nil, is called with each
// frame's last command.
func (s *Sequencer) Replay(r journal.Reader, progress func(bourse.Seq)) error {
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			s.written = s.engine.Now()
			s.begin()
			return nil
		}
		if err == nil {
			err = s.applyBatch(b, nil)
		}
		if err != nil {
			return err
		}
		if progress != nil {
			progress(b.Last())
		}
	}
}
