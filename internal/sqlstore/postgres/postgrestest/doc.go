// Package postgrestest starts a PostgreSQL server for tests: one for each test binary,
// with a database for each test, on a socket in a temporary directory.
//
// A server refuses to run as root; started by root it runs as another user. On a machine
// without PostgreSQL the tests that need one are skipped; see package needs.
package postgrestest
