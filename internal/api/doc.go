// Package api is what all HTTP interfaces share: reading requests, asking who
// is there, limits, and errors on the wire.
package api
