package sequencer

// Leads reports whether this process proposes.
func (s *Sequencer) Leads() bool { return !s.follows.Load() }
