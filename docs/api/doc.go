// Package apidocs embeds the descriptions of the public interfaces: OpenAPI for REST,
// AsyncAPI for the streams. They are written by hand; the tests of internal/describe
// compare them with the program.
package apidocs
