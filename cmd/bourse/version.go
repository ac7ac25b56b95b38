package main

import (
	"fmt"
	"runtime/debug"

	"github.com/alecthomas/kong"
)

type version struct{}

// versionFlag prints the version, whatever else the command line says.
type versionFlag bool

// BeforeReset runs before a command line is checked for what is missing in it.
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

// versionText names the tag, or what Go makes of the commit if none names it, then the
// commit and its date, and the version of Go.
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
