package node

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"

	"github.com/bourse-exchange/bourse/internal/forward"
)

// TestLoneReplicasEndStreams has a replica keep its streams for five seconds without a leader, over any number of
// elections that are shorter, and end them then. It takes none until a leader answers.
func TestLoneReplicasEndStreams(t *testing.T) {
	r := newReadsRig(t, 0)
	now := time.Now()
	r.reads.clock = func() time.Time { return now }
	r.others = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	r.openStreams()
	at := httptest.NewServer(http.HandlerFunc(r.openStream))
	t.Cleanup(func() {
		r.streams.Close(context.Background())
		at.Close()
	})
	url := "ws" + strings.TrimPrefix(at.URL, "http") + streamPath

	r.tick(1)
	for range 2 {
		r.bound, r.err = forward.Bound{Seq: 1, AsOf: now}, nil
		conn, _, _, err := ws.Dial(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		ping := func() error {
			if err := wsutil.WriteClientText(conn, []byte(`{"op":"ping","id":1}`)); err != nil {
				return err
			}
			_, err := wsutil.ReadServerText(conn)
			return err
		}
		if err := ping(); err != nil { // the server has the connection
			t.Fatal(err)
		}

		for range 3 { // elections
			now = now.Add(aloneFor)
			r.endLoneStreams()
			if err := ping(); err != nil {
				t.Fatalf("%v without a leader end a stream: %v", aloneFor, err)
			}
			r.bound.AsOf = now
			if _, err := r.reads.catchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
		}

		r.err = errors.New("no leader")
		now = now.Add(aloneFor + 1)
		r.endLoneStreams()
		_, err = wsutil.ReadServerText(conn)
		if want := (wsutil.ClosedError{Code: ws.StatusGoingAway, Reason: lone}); !errors.Is(err, want) {
			t.Errorf("a stream without a leader ends with %v", err)
		}
		_ = conn.Close()
		if _, _, _, err := ws.Dial(t.Context(), url); !errors.Is(err, ws.StatusError(http.StatusTeapot)) {
			t.Errorf("a stream opens without a leader: %v", err)
		}
	}
}
