// Package apidocs holds the descriptions of the public interfaces: OpenAPI for
// REST, AsyncAPI for the streams. They are written by hand; the tests of
// internal/describe hold the program and the documents against each other.
package apidocs

import "embed"

// Files are the documents, by name.
//
//go:embed *.yaml
var Files embed.FS
