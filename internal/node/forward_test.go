package node

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestForwardedStreamsLeaveFiles refuses a stream that a node forwards, or gets, once its files are taken: the journal needs the
// last ones. Requests, which share a connection, are served.
func TestForwardedStreamsLeaveFiles(t *testing.T) {
	room, served, refused := true, 0, 0
	h := withRoom(func() bool { return room },
		func(_ http.ResponseWriter, _ *http.Request, err error) {
			if refused++; !errors.Is(err, errNoFiles) {
				t.Error(err)
			}
		},
		func(http.ResponseWriter, *http.Request) { served++ })
	stream := httptest.NewRequest(http.MethodGet, "/stream", nil)
	stream.Header.Set("Upgrade", "websocket")
	for _, room = range []bool{true, false} {
		h.ServeHTTP(httptest.NewRecorder(), stream)
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/stream", nil))
	}
	if served != 3 || refused != 1 {
		t.Errorf("%d requests of 4 are served, %d refused", served, refused)
	}
}
