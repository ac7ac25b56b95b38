package node

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/bourse-exchange/bourse"
)

func TestBrokenInvariantEndsTheProcess(t *testing.T) {
	n := &Node{failed: make(chan error, 1)}
	serve := func(cause any) {
		defer func() { _ = recover() }()
		n.endingBroken(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(cause) })).
			ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	}
	serve("something else")
	select {
	case err := <-n.failed:
		t.Fatalf("stopped for %v", err)
	default:
	}
	serve(bourse.InvariantError("a test's"))
	var broken bourse.InvariantError
	if err := <-n.failed; !errors.As(err, &broken) {
		t.Errorf("stopped for %v", err)
	}
}
