// Package describe serves the descriptions of the public interfaces, and validates
// requests, answers and messages against them in tests.
//
// It knows none of the interfaces: docs/api is its only source.
package describe
