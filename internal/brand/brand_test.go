package brand

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"
)

// files are what a block may name.
func files(t *testing.T) func(string) ([]byte, error) {
	var small, large bytes.Buffer
	for out, pixels := range map[*bytes.Buffer]int{&small: 20, &large: maxPixels + 1} {
		if err := png.Encode(out, image.NewGray(image.Rect(0, 0, pixels, 1))); err != nil {
			t.Fatal(err)
		}
	}
	all := map[string]string{
		"logo.svg": `<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>`, "terms.md": "# Terms\n\nBe kind.",
		"logo.png": small.String(), "wide.png": large.String(), "empty.md": " \n", "binary.md": "\xff",
		"script.svg": `<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>`, "page.svg": "<html></html>",
		"handler.svg": `<svg xmlns="http://www.w3.org/2000/svg" onload="1"/>`, "broken.svg": "<svg>", "text.png": "none",
		"heavy.svg": "<svg>" + strings.Repeat(" ", maxLogo) + "</svg>", "long.md": strings.Repeat("a", maxDocument+1),
	}
	return func(name string) ([]byte, error) {
		text, ok := all[name]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}
}

func TestParse(t *testing.T) {
	b, err := Parse([]byte(`
name: Ünter Börse
logo: logo.svg
colours: {dark: {accent: "#c79bff"}}
terms: {version: 2026-01, file: terms.md}
privacy: {address: "https://example.com/privacy"}
support: mailto:help@example.com
letters: {reset: {text: "{code}!"}}
`), files(t))
	if err != nil {
		t.Fatal(err)
	}
	if b.Name != "Ünter Börse" || b.Logo.Extension != ".svg" || b.Terms.Version != "2026-01" ||
		!strings.Contains(string(b.Terms.Text), "kind") || b.Privacy.URL == "" || b.SupportText() != "help@example.com" ||
		b.Letters["reset"].Text != "{code}!" {
		t.Errorf("%+v", b)
	}

	plain, err := Parse(nil, files(t))
	if err != nil || plain.Name != Default().Name || plain.Terms.There() || plain.Colours.PageStyles() != "" {
		t.Errorf("nothing is %+v, %v", plain, err)
	}
	if picture, err := Parse([]byte("logo: logo.png"), files(t)); err != nil || picture.Logo.Extension != ".png" {
		t.Errorf("a PNG: %v", err)
	}
}

// TestBadBlocks wants a clear error for each block that cannot be shown.
func TestBadBlocks(t *testing.T) {
	for block, says := range map[string]string{
		"nom: X": "nom",
		"- name": "brand",
		"name: '" + strings.Repeat("x", 41) + "'": "1 to 40 characters",
		`name: "a\nb"`:                             "one line",
		"name: ' a'":                               "name",
		"logo: none.svg":                           "not exist",
		"logo: logo.gif":                           "not exist",
		"logo: terms.md":                           ".png or .svg",
		"logo: text.png":                           "PNG of at most 1024",
		"logo: wide.png":                           "PNG of at most 1024",
		"logo: script.svg":                         "script",
		"logo: handler.svg":                        "onload",
		"logo: page.svg":                           "must be svg",
		"logo: broken.svg":                         "no XML",
		"logo: heavy.svg":                          "more than 65536 bytes",
		"colours: {dark: {ink: '#000000'}}":        `"ink" is none of accent`,
		"colours: {dark: {accent: blue}}":          `must be like "#1d4fd8"`,
		"colours: {dark: {accent: '#33415c'}}":     "accent #33415c on bg #0b0e14 has a contrast of 1.9; it needs 4.5",
		"colours: {light: {accent: '#99bbff'}}":    "colours: light: accent",
		"colours: {light: {on-accent: '#000000'}}": "on-accent #000000 on accent",
		"terms: {version: '1'}":                    "go together",
		"terms: {file: terms.md}":                  "go together",
		"terms: {version: a b, file: terms.md}":    "letters, digits",
		"terms: {version: '1', file: empty.md}":    "Markdown",
		"terms: {version: '1', file: binary.md}":   "Markdown",
		"terms: {version: '1', file: long.md}":     "1 to 262144 bytes",
		"terms: {version: '1', file: terms.md, address: 'https://a.b'}": "not both",
		"terms: {version: '1', address: 'http://a.b'}":                  "https://",
		"privacy: {address: 'javascript:alert(1)'}":                     "https://",
		"privacy: {address: 'mailto:a@b.cd'}":                           "https://",
		"support: 'mailto:nobody'":                                      "support",
		"support: 'https://u:p@a.b/'":                                   "support",
		"letters: {hello: {text: a}}":                                   `"hello" is none of changed`,
		"letters: {reset: {text: Hello}}":                               "must have {code}",
		`letters: {reset: {subject: "a\nb"}}`:                           "one line",
		"letters: {reset: {body: a}}":                                   "body",
	} {
		if _, err := Parse([]byte(block), files(t)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", block, err, says)
		}
	}
}

// TestUsualColours wants the colours that contrasts are computed with to be those of the pages.
func TestUsualColours(t *testing.T) {
	text, err := os.ReadFile("../../web/src/app/theme.css")
	if err != nil {
		t.Fatal(err)
	}
	for selector, want := range map[string]map[string]string{":root {": usual.Light, ":root[data-shade='dark'] {": usual.Dark} {
		_, rule, _ := strings.Cut(string(text), selector)
		rule, _, _ = strings.Cut(rule, "}")
		got := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6});`).FindAllStringSubmatch(rule, -1) {
			got[m[1]] = m[2]
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s\n%v\nwant\n%v", selector, got, want)
		}
	}
	if err := (&Colours{}).check(); err != nil {
		t.Errorf("our own: %v", err)
	}
}

func TestContrast(t *testing.T) {
	for pair, want := range map[[2]string]float64{
		{"#000000", "#ffffff"}: 21, {"#ffffff", "#000000"}: 21, {"#777777", "#ffffff"}: 4.48, {"#123456", "#123456"}: 1,
	} {
		if got := contrast(pair[0], pair[1]); got < want-0.005 || got > want+0.005 {
			t.Errorf("%v: %f, want %f", pair, got, want)
		}
	}
}

// TestStyles wants each theme's colours in rules of its own, and the setting for colour-blind
// people to keep theirs.
func TestStyles(t *testing.T) {
	c := Colours{Dark: map[string]string{"accent": "#c79bff", "up": "#55ccaa"}, Light: map[string]string{"bg": "#ffffff"}}
	const pages = `:root:root:not([data-shade='dark']) { --bg: #ffffff; }
:root:root[data-shade='dark'] { --accent: #c79bff; --wash: rgb(199 155 255 / 10%); }
:root:root[data-shade='dark']:not([data-colours='blind']) { --up: #55ccaa; }
`
	if got := c.PageStyles(); got != pages {
		t.Errorf("pages:\n%s", got)
	}
	const guide = `@media not (prefers-color-scheme: dark) { :root:root { --bg: #ffffff; }
}
@media (prefers-color-scheme: dark) { :root:root { --accent: #c79bff; }
}
`
	if got := c.GuideStyles(); got != guide {
		t.Errorf("guide:\n%s", got)
	}
}

// TestFileErrors wants an unreadable file to be an error of the block.
func TestFileErrors(t *testing.T) {
	broken := errors.New("no disk")
	if _, err := Parse([]byte("privacy: {file: x}"), func(string) ([]byte, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
}
