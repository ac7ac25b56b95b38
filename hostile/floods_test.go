package hostile

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/gobwas/ws"
)

// TestFloodsTogether has many connections ask and ask, and read none of the
// answers. What the exchange keeps of answers for each of them is bounded, far
// below what it keeps of market data for somebody who is slow; and each one
// ends, however much it still has to say.
//
// The exchange is the test's own and stops the world to collect garbage. What is
// allocated while a collection marks beside the program counts as alive, however
// soon it is dropped: a flood allocates so much meanwhile that this would be
// measured, more of it the faster the machine is and the more there is to mark.
func TestFloodsTogether(t *testing.T) {
	const connections, bound = 24, 1 << 20
	frames := [...][]byte{
		ws.MustCompileFrame(ws.MaskFrame(ws.NewPingFrame(bytes.Repeat([]byte{'x'}, 125)))),
		ws.MustCompileFrame(ws.MaskFrame(ws.NewTextFrame([]byte(`{"op":"ping","id":1` + strings.Repeat("0", 500) + `}`)))),
	}
	x := another(t, "env", "GODEBUG=gcstoptheworld=1", attacked.binary, "dev", "--bots=false")
	h := x.healthy(t)
	before, _ := x.memory(t)

	var crowd sync.WaitGroup
	for i := range connections {
		s, err := x.connect()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.close)
		crowd.Go(func() {
			if !s.flood(frames[i%len(frames)]) {
				t.Errorf("connection %d may still go on", i)
			}
		})
	}

	most := before
	for done := after(&crowd); ; {
		now, _ := x.memory(t)
		most = max(most, now)
		select {
		case <-done:
		default:
			continue
		}
		break
	}

	t.Logf("%.1f MiB before, at most %.1f MiB", before/(1<<20), most/(1<<20))
	if most-before > connections*bound {
		t.Errorf("%.1f MiB are kept for each connection", (most-before)/connections/(1<<20))
	}
	h.end(t)
}

// after returns a channel that is closed when work is done.
func after(work *sync.WaitGroup) chan struct{} {
	done := make(chan struct{})
	go func() {
		work.Wait()
		close(done)
	}()
	return done
}

// flood sends a frame again and again, and reports whether the exchange had
// enough of it in time.
func (s *subscription) flood(frame []byte) bool {
	many := bytes.Repeat(frame, 100)
	_ = s.conn.SetWriteDeadline(within(patience))
	for {
		if _, err := s.conn.Write(many); err != nil {
			return isGone(err)
		}
	}
}
