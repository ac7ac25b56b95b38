package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTexts translates as a translator does: from what `bourse texts` prints, over what a file
// lacks, to settings that take the directory, and refuse one that is wrong.
func TestTexts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "languages")
	must(t, os.Mkdir(dir, 0o750))
	file, config := filepath.Join(dir, "ar.json"), filepath.Join(t.TempDir(), "c.yaml")
	write(t, config, "data: /d\nlanguages: "+dir+"\n")

	english, stderr, code := run(t, "texts")
	if code != 0 || !strings.Contains(english, `"nav.markets": "Markets"`) {
		t.Fatalf("exit %d: %s%s", code, english, stderr)
	}
	write(t, file, strings.Replace(english, `"nav.markets": "Markets"`, `"nav.markets": "الأسواق"`, 1))
	if lacks, stderr, code := run(t, "texts", file); code != 0 || strings.Contains(lacks, "nav.") || !strings.Contains(lacks, `"texts": {}`) {
		t.Errorf("of all: exit %d: %s%s", code, lacks, stderr)
	}

	write(t, file, `{"name":"العربية","rtl":true,"texts":{"nav.markets":"الأسواق"}}`)
	lacks, _, code := run(t, "texts", file)
	var left struct {
		Name  string
		RTL   bool
		Texts map[string]string
	}
	if err := json.Unmarshal([]byte(lacks), &left); err != nil || code != 0 || !left.RTL || left.Texts["nav.trade"] != "Trade" || left.Texts["nav.markets"] != "" {
		t.Errorf("of one: exit %d, %v: %.300s", code, err, lacks)
	}
	c, err := parse(t, "serve", "--config", config)
	if err != nil || len(c.Serve.Languages) != 1 || c.Serve.Languages[0].Code != "ar" {
		t.Errorf("settings have %+v, %v", c.Serve.Languages, err)
	}

	write(t, file, `{"name":"العربية","texts":{"error.wait":"انتظر"}}`)
	for _, args := range [][]string{{"texts", file}, {"dev", "--languages", dir}, {"serve", "--config", config}} {
		if _, stderr, code := run(t, args...); code == 0 || !strings.Contains(stderr, "language ar.json: texts: error.wait: must have the values of") {
			t.Errorf("%v: exit %d: %s", args, code, stderr)
		}
	}
	if _, stderr, code := run(t, "dev", "--languages", filepath.Join(dir, "none")); code != exitUsage || !strings.Contains(stderr, "no such file") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
