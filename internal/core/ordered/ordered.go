package ordered

import "slices"

// Keys returns the keys of a map in ascending order.
func Keys[K comparable, V any](m map[K]V, compare func(a, b K) int) []K {
	list := make([]K, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	slices.SortFunc(list, compare)
	return list
}

// Values returns the values of a map by ascending key.
func Values[K comparable, V any](m map[K]V, compare func(a, b K) int) []V {
	list := make([]V, len(m))
	for i, k := range Keys(m, compare) {
		list[i] = m[k]
	}
	return list
}

// Select returns the values for which keep reports true, in ascending order.
func Select[K comparable, V any](m map[K]V, keep func(V) bool, compare func(a, b V) int) []V {
	var list []V
	for _, v := range m {
		if keep(v) {
			list = append(list, v)
		}
	}
	slices.SortFunc(list, compare)
	return list
}

// Any reports whether match reports true for a value. It stops at the first match.
func Any[K comparable, V any](m map[K]V, match func(V) bool) bool {
	for _, v := range m {
		if match(v) {
			return true
		}
	}
	return false
}
