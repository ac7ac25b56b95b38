package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse/internal/web"
)

// texts are the languages of a directory that settings name.
type texts []web.Language

// UnmarshalText reads the directory. An empty name is none.
func (l *texts) UnmarshalText(dir []byte) (err error) {
	if *l = nil; len(dir) > 0 {
		*l, err = web.ReadLanguages(os.DirFS(string(dir)))
	}
	return err
}

// textsCmd prints what translators work on.
type textsCmd struct {
	File string `arg:"" optional:"" help:"A translation, such as ar.json; it is checked, and what it lacks is printed in English." type:"path"`
}

// Run prints a language in the form of a file of the directory.
func (c *textsCmd) Run(p *program) error {
	l := web.English()
	if c.File != "" {
		translated, err := web.ReadLanguage(os.DirFS(filepath.Dir(c.File)), filepath.Base(c.File))
		if err != nil {
			return err
		}
		maps.DeleteFunc(l.Texts, func(key, _ string) bool { return translated.Texts[key] != "" })
		l.Name, l.RTL = translated.Name, translated.RTL
	}

	text, err := json.Marshal(&l, json.Deterministic(true), jsontext.WithIndent("  "))
	if err == nil {
		_, err = fmt.Fprintf(p.stdout, "%s\n", text)
	}
	return err
}
