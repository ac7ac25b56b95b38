package account

import "testing"

// TestUsedListHoldsWhatWasUsed wants a credential to be on the list once, however often it
// is used until the store is told, and again when it is used after that.
func TestUsedListHoldsWhatWasUsed(t *testing.T) {
	var l usedList
	one, other := new(credential), new(credential)
	for range 3 {
		l.add(one)
	}
	l.add(other)
	if list := l.take(); len(list) != 2 || list[0] != one || list[1] != other {
		t.Errorf("%d are listed, want 2", len(list))
	}
	if list := l.take(); len(list) != 0 {
		t.Errorf("%d are listed after the store was told", len(list))
	}
	l.add(other)
	if list := l.take(); len(list) != 1 || list[0] != other {
		t.Errorf("%d are listed after another use", len(list))
	}
}
