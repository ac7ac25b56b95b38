package stream_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/api/stream"
)

// TestStreamsAreDescribed compares the streams with docs/api/streams.yaml: each has a message,
// its name can be subscribed to, and no other message is described but operations and answers.
func TestStreamsAreDescribed(t *testing.T) {
	v, err := validator()
	if err != nil {
		t.Fatal(err)
	}

	want := []string{"auth", "ping", "reset", "resp", "sub", "unsub"}
	for _, name := range stream.StreamNames() {
		message, _, _ := strings.Cut(name, "/")
		want = append(want, message)
		if !strings.HasPrefix(name, "my") && name != "tickers" {
			name = "BTC/USDT@" + name
		}
		if err := v.Message(fmt.Appendf(nil, `{"op":"sub","id":1,"streams":%q}`, name)); err != nil {
			t.Errorf("a subscription to %s is not described: %v", name, err)
		}
	}

	slices.Sort(want)
	if got := v.Messages(); !slices.Equal(got, slices.Compact(want)) {
		t.Errorf("described are %v, served %v", got, slices.Compact(want))
	}
}
