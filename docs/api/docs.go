package apidocs

import "embed"

// Files are the documents by name.
//
//go:embed *.yaml
var Files embed.FS
