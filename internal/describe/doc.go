// Package describe serves the descriptions of the public interfaces to people,
// and holds requests, answers and messages against them in tests.
//
// It stands beside the interfaces and knows none of them: docs/api is its only
// source.
package describe
