package brand

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Colours are an operator's, by theme and by the names that web/src/app/theme.css gives them.
type Colours struct {
	Light map[string]string `yaml:"light"`
	Dark  map[string]string `yaml:"dark"`
}

// usual are the colours of theme.css that can be replaced; a test compares them.
var usual = Colours{
	Light: map[string]string{
		"bg": "#f4f6f9", "panel": "#ffffff", "raised": "#f8fafc", "line": "#e1e6ee", "edge": "#818ca0",
		"text": "#131a26", "dim": "#4d596d", "accent": "#1d4fd8", "on-accent": "#ffffff",
		"up": "#00715c", "down": "#b3261e", "warn": "#7a4a00", "warn-bg": "#fff4de",
	},
	Dark: map[string]string{
		"bg": "#0b0e14", "panel": "#11151d", "raised": "#161b25", "line": "#1f2633", "edge": "#66738c",
		"text": "#e6eaf2", "dim": "#9aa5b8", "accent": "#6ea1ff", "on-accent": "#0b0e14",
		"up": "#2fb9a0", "down": "#f0716c", "warn": "#f2c069", "warn-bg": "#2a2214",
	},
}

// The least contrasts: of texts, and of the outlines of fields. WCAG 2.2, 1.4.3 and 1.4.11,
// level AA.
const (
	leastText = 4.5
	leastEdge = 3.0
)

// pairs are the colours that stand on others.
var pairs = []struct {
	on    string
	above []string
	least float64
}{
	{"bg", []string{"text", "dim", "accent", "up", "down"}, leastText},
	{"panel", []string{"text", "dim", "accent", "up", "down", "warn"}, leastText},
	{"raised", []string{"text", "dim", "accent", "up", "down"}, leastText},
	{"accent", []string{"on-accent"}, leastText},
	{"warn-bg", []string{"warn"}, leastText},
	{"panel", []string{"edge"}, leastEdge},
}

var hex = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// check refuses unknown, malformed and illegible colours.
func (c *Colours) check() error {
	if err := checkTheme("light", c.Light, usual.Light); err != nil {
		return err
	}
	return checkTheme("dark", c.Dark, usual.Dark)
}

func checkTheme(theme string, own, usual map[string]string) error {
	all := maps.Clone(usual)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		switch _, known := usual[name]; {
		case !known:
			return fmt.Errorf("brand: colours: %s: %q is none of %s", theme, name,
				strings.Join(slices.Sorted(maps.Keys(usual)), ", "))
		case !hex.MatchString(own[name]):
			return fmt.Errorf("brand: colours: %s: %s: %q must be like \"#1d4fd8\"", theme, name, own[name])
		}
		all[name] = own[name]
	}

	for _, p := range pairs {
		for _, name := range p.above {
			if got := contrast(all[name], all[p.on]); got < p.least {
				return fmt.Errorf("brand: colours: %s: %s %s on %s %s has a contrast of %.1f; it needs %.1f",
					theme, name, all[name], p.on, all[p.on], got, p.least)
			}
		}
	}
	return nil
}

// contrast is the ratio of two colours by WCAG 2.2: 1 to 21.
func contrast(a, b string) float64 {
	light, dark := luminance(a), luminance(b)
	if light < dark {
		light, dark = dark, light
	}
	return (light + 0.05) / (dark + 0.05)
}

// luminance is the relative luminance of a colour by WCAG 2.2.
func luminance(colour string) float64 {
	sum := 0.0
	for i, weight := range [...]float64{0.2126, 0.7152, 0.0722} {
		v := float64(channel(colour, i)) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}

// channel returns red, green or blue of a colour that hex matches.
func channel(colour string, i int) uint64 {
	n, _ := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
	return n
}

// blindToo are the colours that the setting for people who do not tell red from green replaces.
var blindToo = []string{"up", "down"}

// PageStyles returns the rules that give the pages their colours; empty without any. A rule is
// more specific than theme.css's of the same theme, so that the order of files does not matter.
func (c *Colours) PageStyles() string {
	var out strings.Builder
	for _, theme := range []struct {
		selector string
		own      map[string]string
		wash     int
	}{
		{":root:root:not([data-shade='dark'])", c.Light, 8},
		{":root:root[data-shade='dark']", c.Dark, 10},
	} {
		isBlind := func(name string) bool { return slices.Contains(blindToo, name) }
		writeRule(&out, theme.selector, theme.own, theme.wash, func(name string) bool { return !isBlind(name) })
		writeRule(&out, theme.selector+":not([data-colours='blind'])", theme.own, 0, isBlind)
	}
	return out.String()
}

// GuideStyles returns the rules that give the documentation its colours; empty without any.
func (c *Colours) GuideStyles() string {
	var out strings.Builder
	shown := func(name string) bool {
		return slices.Contains([]string{"bg", "panel", "line", "text", "dim", "accent"}, name)
	}
	for _, theme := range []struct {
		media string
		own   map[string]string
	}{{"not (prefers-color-scheme: dark)", c.Light}, {"(prefers-color-scheme: dark)", c.Dark}} {
		var rule strings.Builder
		if writeRule(&rule, ":root:root", theme.own, 0, shown); rule.Len() > 0 {
			fmt.Fprintf(&out, "@media %s { %s}\n", theme.media, rule.String())
		}
	}
	return out.String()
}

// writeRule writes the colours that a rule has, in order. wash is the strength, in percent, of the
// accent behind the element under the pointer; zero for none.
func writeRule(out *strings.Builder, selector string, own map[string]string, wash int, has func(string) bool) {
	var rule strings.Builder
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if !has(name) {
			continue
		}
		fmt.Fprintf(&rule, " --%s: %s;", name, own[name])
		if name == "accent" && wash > 0 {
			fmt.Fprintf(&rule, " --wash: rgb(%d %d %d / %d%%);", channel(own[name], 0), channel(own[name], 1), channel(own[name], 2), wash)
		}
	}
	if rule.Len() > 0 {
		fmt.Fprintf(out, "%s {%s }\n", selector, rule.String())
	}
}
