package web

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/bourse-exchange/bourse"
)

// Language is a translation of the pages' texts, as an operator's file has it. Immutable.
type Language struct {
	// Code is the file's name without its extension, such as ar or pt-BR.
	Code string `json:"-"`
	// Name is what people choose it by, in the language itself.
	Name string `json:"name"`
	// RTL tells that it is written from right to left.
	RTL bool `json:"rtl"`
	// Texts have keys of the English catalogue. A missing text is shown in English.
	Texts map[string]string `json:"texts"`
}

// The bounds of an operator's language.
const (
	maxLanguages    = 64
	maxLanguageFile = 1 << 20 // bytes
	maxLanguageName = 40      // characters
	maxText         = 2000    // bytes; the longest English text has 300
)

// textsFile and consoleTexts are the files of the build with the English texts of the sites. They are not served.
const (
	textsFile    = "texts.json"
	consoleTexts = "operator/" + textsFile
)

var (
	// languageCode matches a language with an optional script and an optional country or region.
	languageCode = regexp.MustCompile(`^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$`)
	// placeholder matches where a text has a value.
	placeholder = regexp.MustCompile(`\{[a-zA-Z]+\}`)
)

// taken are the codes of the languages that the pages have themselves.
var taken = []string{"en", "en-XA", "ar-XB"}

// English returns the English texts of both sites, which every language is held against.
func English() Language {
	l := Language{Code: "en", Name: "English", Texts: englishOf(textsFile)}
	maps.Copy(l.Texts, englishOf(consoleTexts))
	return l
}

// englishOf returns the English texts in a file of the build.
func englishOf(file string) (texts map[string]string) {
	body, err := dist.ReadFile("dist/" + file)
	if err == nil {
		err = json.Unmarshal(body, &texts)
	}
	if err != nil {
		bourse.Impossible("embedded pages without %s: %v", file, err)
	}
	return texts
}

// ReadLanguages reads the languages of a directory, in the order of their codes: each file is
// one, and named after its code, such as ar.json.
func ReadLanguages(dir fs.FS) ([]Language, error) {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil, fmt.Errorf("languages: %w", err)
	}

	var list []Language
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") { // what editors and mounted volumes leave
			continue
		}
		l, err := ReadLanguage(dir, entry.Name())
		if err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	if len(list) > maxLanguages {
		return nil, fmt.Errorf("languages: there are %d files, at most %d are served", len(list), maxLanguages)
	}
	return list, nil
}

// ReadLanguage reads a file of a directory and checks it.
func ReadLanguage(dir fs.FS, name string) (Language, error) {
	l, err := readLanguage(dir, name)
	if err == nil {
		err = l.check(English().Texts)
	}
	if err != nil {
		return l, fmt.Errorf("language %s: %w", name, err)
	}
	return l, nil
}

// readLanguage reads a file strictly: a repeated or unknown member is an error. Opening a pipe would
// wait for its writer.
func readLanguage(dir fs.FS, name string) (l Language, err error) {
	if is, err := fs.Stat(dir, name); err != nil {
		return l, err
	} else if !is.Mode().IsRegular() {
		return l, errors.New("it is no regular file")
	}
	f, err := dir.Open(name)
	if err != nil {
		return l, err
	}
	defer func() { _ = f.Close() }() // it was only read
	body, err := io.ReadAll(io.LimitReader(f, maxLanguageFile+1))
	if err != nil {
		return l, err
	}
	if len(body) > maxLanguageFile {
		return l, fmt.Errorf("it has more than %d bytes", maxLanguageFile)
	}

	code, isJSON := strings.CutSuffix(name, ".json")
	switch {
	case !isJSON || !languageCode.MatchString(code):
		return l, errors.New("the name must be a code and .json, such as ar.json or pt-BR.json")
	case slices.Contains(taken, code):
		return l, fmt.Errorf("the pages have %s themselves", code)
	}
	err = json.Unmarshal(body, &l, json.RejectUnknownMembers(true))
	l.Code = code
	return l, err
}

// check refuses what cannot be shown in the place of the English texts.
func (l *Language) check(english map[string]string) error {
	if l.Name == "" || utf8.RuneCountInString(l.Name) > maxLanguageName || !isText(l.Name) {
		return fmt.Errorf("name: must be 1 to %d characters in one line", maxLanguageName)
	}
	for _, key := range slices.Sorted(maps.Keys(l.Texts)) {
		text := l.Texts[key]
		plain, known := english[key]
		switch want := placeholders(plain); {
		case !known:
			return fmt.Errorf("texts: %s is no key; `bourse texts` prints them", key)
		case strings.TrimSpace(text) == "" || len(text) > maxText || !isText(text):
			return fmt.Errorf("texts: %s: must be 1 to %d bytes in one line, without overrides of the direction", key, maxText)
		case !slices.Equal(placeholders(text), want):
			return fmt.Errorf("texts: %s: must have the values of %q: %s", key, plain, strings.Join(want, " "))
		}
	}
	return nil
}

// placeholders returns the values of a text, each once, in the order of their names.
func placeholders(text string) []string {
	found := placeholder.FindAllString(text, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// isText reports whether a text is one line that leaves its neighbours alone: marks and isolates
// of the direction of writing are permitted, embeddings and overrides are not.
func isText(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool {
		return unicode.IsControl(c) || c >= '\u202a' && c <= '\u202e' || c == '\u2028' || c == '\u2029'
	})
}

// offered is a language as the pages' scripts read it, in the meta element "languages".
type offered struct {
	Code string `json:"code"`
	Name string `json:"name"`
	RTL  bool   `json:"rtl"`
	// File is the address of the texts.
	File string `json:"file"`
}

// translate adds the languages' files to the dress, and returns the list for the index; nil for
// none. A file has the texts whose keys are in the site's English ones.
func (d *dress) translate(languages []Language, english map[string]string) []byte {
	if len(languages) == 0 {
		return nil
	}
	list := make([]offered, len(languages))
	for i, l := range languages {
		texts := maps.Clone(l.Texts)
		maps.DeleteFunc(texts, func(key, _ string) bool { return english[key] == "" })
		name := d.add("texts-"+l.Code, ".json", encoded(texts))
		list[i] = offered{l.Code, l.Name, l.RTL, "/" + name}
	}
	return encoded(list)
}
