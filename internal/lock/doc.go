// Package lock provides a mutex for each account.
//
// It serialises operations on one account: changes of a person and its keys, and orders
// that walk a book.
//
// Invariant: a caller waits only for requests of the same account.
package lock
