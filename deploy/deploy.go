package deploy

import "embed"

// Files are the default settings, a catalogue and the systemd unit.
//
//go:embed bourse.yaml catalogue.yaml bourse.service
var Files embed.FS
