//go:build !amd64 && !arm64

package book

import "github.com/bourse-exchange/bourse"

// Expect does nothing here.
func (*Arena) Expect([]bourse.OrderID) {}

// ExpectNext does nothing here.
func (*Arena) ExpectNext(Slot) {}
