package ordered

import (
	"cmp"
	"slices"
	"testing"
)

func TestOrderIsThatOfCompare(t *testing.T) {
	m := map[int]string{}
	for k := range 100 {
		m[k*37%100] = string(rune('a' + k%26))
	}
	keys := Keys(m, cmp.Compare[int])
	if len(keys) != 100 || !slices.IsSorted(keys) {
		t.Errorf("the keys are %v", keys)
	}

	values := Values(m, cmp.Compare[int])
	for i, k := range keys {
		if values[i] != m[k] {
			t.Errorf("value %d is %q, that of key %d is %q", i, values[i], k, m[k])
		}
	}

	vowels := Select(map[int]string{1: "e", 2: "b", 3: "a"}, func(v string) bool { return v != "b" }, cmp.Compare[string])
	if !slices.Equal(vowels, []string{"a", "e"}) {
		t.Errorf("selected %q", vowels)
	}
}

func TestAnyAsksUntilOneMatches(t *testing.T) {
	m := map[int]int{1: 10, 2: 20}
	for want, is := range map[int]bool{10: true, 20: true, 30: false} {
		if Any(m, func(v int) bool { return v == want }) != is {
			t.Errorf("any %d: want %t", want, is)
		}
	}
	if Any(map[int]int{}, func(int) bool { return true }) {
		t.Error("an empty map has a value")
	}
}
