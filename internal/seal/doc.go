// Package seal encrypts secrets that a store keeps: a stored value is useless without the key of
// the exchange, and in another place than the one it was sealed for.
//
// Secrets of accounts and of webhooks are sealed here and nowhere else. What seals with a key of
// its own derives it from the exchange's by [Derive].
package seal
