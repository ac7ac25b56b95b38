package stream

// Cut returns how many of the open connections have been ended without what was
// queued for them.
func (s *Server) Cut() (n int) {
	s.each(func(c *conn) {
		if c.cut.Load() {
			n++
		}
	})
	return n
}
