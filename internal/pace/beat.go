package pace

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/view"
)

// Round collects the messages of a beat.
type Round struct {
	// Wanted reports whether a topic has a line. Frame is the number of the next frame: a message
	// of it reaches every line that exists.
	Wanted func(feed.Topic) bool
	Frame  uint64
	posts  []post
}

// post is a message to encode and post.
type post struct {
	topic  feed.Topic
	frame  uint64
	encode Encode
}

// Encode returns a message and its number in the topic's stream; nil bytes are no message. Beat
// calls it without the lock of the feed: the view's writer waits for that lock, so its holder must
// not wait for the view. The view shows all commands up to seen, among them those of the changes
// that were taken for the beat.
type Encode func(seen bourse.Seq) (seq uint64, bytes []byte)

// Add adds a message of a frame.
func (r *Round) Add(t feed.Topic, frame uint64, encode Encode) {
	r.posts = append(r.posts, post{t, frame, encode})
}

// Beat calls collect under the lock of a feed, and encodes and posts the messages that collect
// added. It waits for the end of the view's open frame before, to which the changes may belong: no
// message comes before every endpoint shows its contents.
func Beat(f *feed.Feed, v *view.View, collect func(*Round)) {
	var r Round
	f.Look(func(frame uint64, wanted func(feed.Topic) bool) {
		r.Wanted, r.Frame = wanted, frame+1
		collect(&r)
	})
	if len(r.posts) == 0 {
		return
	}

	seen := v.Seq()
	for i := range r.posts {
		p := &r.posts[i]
		if seq, bytes := p.encode(seen); bytes != nil {
			f.Post(p.topic, seq, p.frame, bytes)
		}
	}
}
