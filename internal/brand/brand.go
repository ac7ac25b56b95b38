package brand

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/bourse-exchange/bourse/internal/account"
)

// Brand is how an exchange names and shows itself. Immutable.
type Brand struct {
	// Name is 1 to maxName characters in one line.
	Name string
	// Logo is empty for Bourse's.
	Logo Logo
	// Colours replace those of the look that the program has by itself.
	Colours Colours `yaml:"colours"`
	// Terms has no version if there are none.
	Terms   Terms
	Privacy Document
	// Support is the address of a page, or mailto: and an e-mail address; empty for none.
	Support string
	// Letters replace the texts of letters, by their names.
	Letters map[string]account.Letter
}

// Terms are the terms of use. Another version has to be accepted anew.
type Terms struct {
	Version string
	Document
}

// Document is a text for customers: the address of a page elsewhere, or a text in Markdown that
// the exchange shows. Both are empty if there is none.
type Document struct {
	URL  string
	Text []byte
}

// There reports whether there is such a document.
func (d *Document) There() bool { return d.URL != "" || len(d.Text) > 0 }

// Default returns the brand of an exchange that sets none.
func Default() *Brand { return &Brand{Name: "Bourse"} }

// The bounds of an operator's settings.
const (
	maxName     = 40        // characters
	maxVersion  = 32        // bytes
	maxAddress  = 500       // bytes
	maxDocument = 256 << 10 // bytes
)

// block is the form of the settings.
type block struct {
	Name    string  `yaml:"name"`
	Logo    string  `yaml:"logo"`
	Colours Colours `yaml:"colours"`
	Terms   struct {
		Version string `yaml:"version"`
		Address string `yaml:"address"`
		File    string `yaml:"file"`
	} `yaml:"terms"`
	Privacy struct {
		Address string `yaml:"address"`
		File    string `yaml:"file"`
	} `yaml:"privacy"`
	Support string                    `yaml:"support"`
	Letters map[string]account.Letter `yaml:"letters"`
}

// Parse reads a block of settings, in YAML. read returns a file that the block names. A setting
// that the block leaves out is as in Default.
func Parse(text []byte, read func(name string) ([]byte, error)) (*Brand, error) {
	var in block
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&in); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("brand: %w", err)
	}

	b := Default()
	if in.Name != "" {
		b.Name = in.Name
	}
	b.Colours, b.Support, b.Letters = in.Colours, in.Support, in.Letters
	b.Terms.Version = in.Terms.Version

	logo, logoErr := readLogo(in.Logo, read)
	terms, termsErr := readDocument("terms", in.Terms.Address, in.Terms.File, read)
	privacy, privacyErr := readDocument("privacy", in.Privacy.Address, in.Privacy.File, read)
	b.Logo, b.Terms.Document, b.Privacy = logo, terms, privacy
	if err := errors.Join(logoErr, termsErr, privacyErr); err != nil {
		return nil, err
	}
	return b, b.check()
}

// check refuses what cannot be shown.
func (b *Brand) check() error {
	switch {
	case utf8.RuneCountInString(b.Name) > maxName || !oneLine(b.Name) || strings.TrimSpace(b.Name) != b.Name:
		return fmt.Errorf("brand: name: must be 1 to %d characters in one line", maxName)
	case b.Terms.There() != (b.Terms.Version != ""):
		return errors.New("brand: terms: a version, and an address or a file go together")
	case len(b.Terms.Version) > maxVersion || strings.ContainsFunc(b.Terms.Version, isNoVersion):
		return fmt.Errorf("brand: terms: version must be at most %d letters, digits, points and dashes", maxVersion)
	case b.Support != "" && !isAddress(b.Support):
		return fmt.Errorf("brand: support: %q must be https:// and a page, or mailto: and an address", b.Support)
	}
	if err := b.Colours.check(); err != nil {
		return err
	}
	if err := account.CheckLetters(b.Letters); err != nil {
		return fmt.Errorf("brand: letters: %w", err)
	}
	return nil
}

// readDocument returns a document of settings.
func readDocument(what, address, file string, read func(string) ([]byte, error)) (Document, error) {
	d := Document{URL: address}
	switch {
	case address != "" && file != "":
		return d, fmt.Errorf("brand: %s: must be an address or a file, not both", what)
	case address != "" && (!isAddress(address) || strings.HasPrefix(address, mailto)):
		return d, fmt.Errorf("brand: %s: address %q must be https:// and a page", what, address)
	case file == "":
		return d, nil
	}

	text, err := read(file)
	switch {
	case err != nil:
		return d, fmt.Errorf("brand: %s: %w", what, err)
	case len(bytes.TrimSpace(text)) == 0 || len(text) > maxDocument || !utf8.Valid(text):
		return d, fmt.Errorf("brand: %s: %s must be 1 to %d bytes of Markdown in UTF-8", what, file, maxDocument)
	}
	d.Text = text
	return d, nil
}

const mailto = "mailto:"

// isAddress reports whether a text is a web page over TLS, or mailto: and an e-mail address.
func isAddress(text string) bool {
	if to, ok := strings.CutPrefix(text, mailto); ok {
		_, err := account.NormalizeEmail(to)
		return err == nil
	}
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil && len(text) <= maxAddress && oneLine(text)
}

// oneLine reports whether a text is printable UTF-8 in one line.
func oneLine(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsPrint(c) })
}

func isNoVersion(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !slices.Contains([]rune(".-"), c)
}

// SupportText returns the support's address as people write it.
func (b *Brand) SupportText() string { return strings.TrimPrefix(b.Support, mailto) }
