//go:build !amd64 && !arm64

package book

import "github.com/bourse-exchange/bourse"

// Expect has no effect on this architecture.
func (*Arena) Expect([]bourse.OrderID) {}

// ExpectNext has no effect on this architecture.
func (*Arena) ExpectNext(Slot) {}
