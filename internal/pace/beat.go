package pace

import "github.com/bourse-exchange/bourse/internal/feed"

// Round collects the messages of a beat.
type Round struct {
	// Wanted reports whether a topic has a line. Frame is the next frame's number: lines that
	// exist get the messages of states.
	Wanted func(feed.Topic) bool
	Frame  uint64
	posts  []post
}

// post is a message to encode and post, unless encode returns nil.
type post struct {
	topic      feed.Topic
	seq, frame uint64
	encode     func() []byte
}

// Add adds a message with its number in the topic's stream, and the frame that it is of.
// encode is called without the lock of the feed: whoever has that lock must not wait for the
// view, whose writer waits for it. If it returns nil, there is no message.
func (r *Round) Add(t feed.Topic, seq, frame uint64, encode func() []byte) {
	r.posts = append(r.posts, post{t, seq, frame, encode})
}

// Beat calls collect, under the lock of a feed, and encodes and posts what that added.
func Beat(f *feed.Feed, collect func(*Round)) {
	var r Round
	f.Look(func(frame uint64, wanted func(feed.Topic) bool) {
		r.Wanted, r.Frame = wanted, frame+1
		collect(&r)
	})
	for i := range r.posts {
		p := &r.posts[i]
		if bytes := p.encode(); bytes != nil {
			f.Post(p.topic, p.seq, p.frame, bytes)
		}
	}
}
