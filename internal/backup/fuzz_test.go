package backup

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzManifest reads manifests: none that is taken names a file outside of the
// backup, whatever it says.
func FuzzManifest(f *testing.F) {
	for _, text := range []string{
		`{}`, `null`, `[]`, `{"format":1}`, `{"format":1,"files":{"../x":{}}}`, `{"format":1,"files":{"/etc/passwd":{}}}`,
		`{"format":1,"files":{"journal/1.seg":{"size":-1,"sha256":"00"}}}`, `{"format":1,"files":{"a/../../b":{}}}`,
		`{"format":1,"seq":18446744073709551615}`, `{"format":1e0}`, "\x00",
	} {
		f.Add([]byte(text))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, manifestName), text, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := read(dir)
		if err != nil {
			return
		}
		for name := range m.Files {
			if below, err := filepath.Rel(dir, filepath.Join(dir, name)); err != nil || !filepath.IsLocal(below) {
				t.Errorf("%q leaves the backup", name)
			}
		}
	})
}
