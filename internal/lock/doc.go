// Package lock provides a mutex for each account, and one whose waiters can give up.
//
// [Accounts] serialises operations on one account: changes of a person and its keys, and
// orders that walk a book. [Gate] is for work that may wait for a database.
//
// Invariant: a caller of Accounts waits only for requests of the same account.
package lock
