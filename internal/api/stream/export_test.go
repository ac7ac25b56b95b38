package stream

import (
	"maps"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
)

// Cut returns how many of the open connections have been ended without what was
// queued for them.
func (s *Server) Cut() (n int) {
	s.each(func(c *Conn) {
		if c.cut.Load() {
			n++
		}
	})
	return n
}

// ResetOf returns the message that replaces a client's state of a stream.
func (s *Server) ResetOf(t feed.Topic, state State) []byte { return s.resetOf(t, &state) }

// StreamNames returns the names of all streams, of the public ones without the pair.
func StreamNames() []string {
	list := slices.AppendSeq(slices.Collect(maps.Keys(privateKinds)), maps.Keys(publicKinds))
	for res := bourse.Resolution1; res <= bourse.LastResolution; res++ {
		list = append(list, nameCandleStick+res.String(), nameCandle+res.String())
	}
	list = append(list, nameTickers)
	return list
}
