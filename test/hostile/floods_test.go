package hostile

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/gobwas/ws"
)

// TestFloodsTogether floods the exchange over many connections that do not read the
// answers. The queue of answers per connection is bounded, far below that of market data
// for a slow subscriber, and each connection is closed, whatever is queued.
//
// The exchange is the test's own and collects garbage with the world stopped. A
// concurrent collection counts allocations made meanwhile as alive: the measured memory
// would depend on the speed of the machine.
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

// flood repeats a frame, and reports whether the exchange closed the connection in time.
func (s *subscription) flood(frame []byte) bool {
	many := bytes.Repeat(frame, 100)
	_ = s.conn.SetWriteDeadline(within(patience))
	for {
		if _, err := s.conn.Write(many); err != nil {
			return isGone(err)
		}
	}
}
