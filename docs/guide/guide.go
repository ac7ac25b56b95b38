package guide

import "embed"

// Files are the chapters; the file of a chapter is its name with ".md".
//
//go:embed *.md
var Files embed.FS

// Names returns the names of the chapters in the order in which they are read.
func Names() []string {
	return []string{
		"keys", "first-order", "waiting", "changing", "streams", "reconnecting", "fills", "silence", "signing", "limits",
		"errors", "changes", "bot",
	}
}
