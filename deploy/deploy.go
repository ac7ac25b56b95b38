// Package deploy has the files that an operator begins with, for `bourse init`.
package deploy

import "embed"

// Files are the settings with their defaults, a catalogue and the unit file.
//
//go:embed bourse.yaml catalogue.yaml bourse.service
var Files embed.FS
