package main

import (
	"fmt"
	"runtime/debug"

	"github.com/alecthomas/kong"
)

type version struct{}

// versionFlag prints the version, regardless of the rest of the command line.
type versionFlag bool

// BeforeReset runs before the command line is checked for missing parts.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	_, err := fmt.Fprintln(app.Stdout, versionText())
	app.Exit(0)
	return err
}

// Run prints the version.
func (*version) Run(p *program) error {
	_, err := fmt.Fprintln(p.stdout, versionText())
	return err
}

// versionText returns the tag or pseudo-version, the commit and its date, and the version
// of Go.
func versionText() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "bourse (unknown build)"
	}
	text := "bourse " + info.Main.Version
	for _, key := range [...]string{"vcs.revision", "vcs.time"} {
		for _, s := range info.Settings {
			if s.Key == key {
				text += " " + s.Value
			}
		}
	}
	return text + " " + info.GoVersion
}
