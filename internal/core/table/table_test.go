package table

import (
	"testing"

	"pgregory.net/rapid"
)

// TestTableIsAMap compares a table with a map, and wants pointers to stay good.
func TestTableIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table Table[int]
		want := map[uint32]int{}
		pointers := map[uint32]*int{}
		for range rapid.IntRange(0, 50).Draw(t, "n") {
			id := rapid.Uint32Range(0, 5000).Draw(t, "id")
			if found := table.Find(id); found != nil && *found != want[id] {
				t.Fatalf("%d is %d, want %d", id, *found, want[id])
			}
			if want[id] != 0 && table.At(id) != pointers[id] {
				t.Fatalf("the entry of %d moved", id)
			}
			want[id]++
			pointers[id] = table.At(id)
			*pointers[id] = want[id]
		}
		last, seen := int64(-1), 0
		for id, entry := range table.All {
			if int64(id) <= last {
				t.Fatalf("%d comes after %d", id, last)
			}
			last = int64(id)
			if *entry != want[id] {
				t.Fatalf("%d is %d, want %d", id, *entry, want[id])
			}
			if *entry != 0 {
				seen++
			}
		}
		if seen != len(want) {
			t.Fatalf("%d entries are yielded, want %d", seen, len(want))
		}
	})
}

// TestUntouched wants no page to be made by asking.
func TestUntouched(t *testing.T) {
	var table Table[int]
	if table.Find(7) != nil {
		t.Error("an entry of an empty table is found")
	}
	*table.At(200) = 1
	if table.Find(7) != nil || table.Find(199) == nil || table.Find(1<<31) != nil {
		t.Error("pages are not those that were touched")
	}
	for range table.All {
		break // stops without a panic
	}
}
