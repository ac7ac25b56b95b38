package stream

import (
	"maps"
	"slices"
)

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

// StreamNames returns the names of all streams, of the public ones without the pair.
func StreamNames() []string {
	list := slices.AppendSeq(slices.Collect(maps.Keys(privateKinds)), maps.Keys(publicKinds))
	for res := range resolutions {
		list = append(list, nameCandleStick+res)
	}
	return list
}
