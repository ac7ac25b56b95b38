package main

import (
	"fmt"
	"runtime/debug"
)

type version struct{}

// Run prints the version.
func (*version) Run(p *program) error {
	_, err := fmt.Fprintln(p.stdout, versionText())
	return err
}

// versionText names the module's version, or the commit it was built from.
func versionText() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "bourse (unknown build)"
	}
	text := "bourse " + info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			text += " " + s.Value
		}
	}
	return text + " " + info.GoVersion
}
