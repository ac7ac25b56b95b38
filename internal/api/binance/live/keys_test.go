package live_test

import (
	"net/http"
	"testing"
	"time"
)

// TestRevocationsDoNotWait revokes keys in the middle of a frame, as the accounts do, while
// clients subscribe to user data and leave it, for which they wait until the frame ends.
func TestRevocationsDoNotWait(t *testing.T) {
	x := newExchange(t)
	c := x.dial("/ws-api/v3")
	c.ok("session.logon", params{}.signed(aliceKey))
	for _, method := range [...]string{"userDataStream.subscribe", "userDataStream.unsubscribe"} {
		p := params{}
		if method == "userDataStream.unsubscribe" {
			p["subscriptionId"] = 0
		}
		x.feed.Begin()
		id := c.request(method, p)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); time.Sleep(time.Millisecond) {
				x.server.Revoke(99) // no key of this connection
			}
		}()
		select {
		case <-done:
		case <-time.After(patience / 4):
			t.Errorf("%s: a revocation waits for the frame that waits for it", method)
		}
		x.feed.End()
		<-done
		if a := c.answered(); a.ID != float64(id) || a.Status != http.StatusOK {
			t.Errorf("%s: %+v", method, a)
		}
	}
}
