// Package ordered iterates over maps in an order that is the same in every process.
//
// It stands below the other parts of the core and is the only one of them that iterates
// over maps (maploops_test.go at the root). [Keys], [Values] and [Select] sort their
// results. [Any] returns a result that does not depend on the order.
//
// Invariant: equal maps give equal results, as long as compare orders every two of their
// entries, and match and keep have no side effects.
package ordered
