// Package describe serves the guide for clients and the descriptions of the public
// interfaces, and validates requests, answers and messages against them in tests.
//
// It knows none of the interfaces: docs/api and docs/guide are its only sources.
package describe
