package backup

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse/internal/journal"
)

// TestSegmentsMoveMeanwhile lets segments move to the archive while they are copied, up to
// each of them and at each moment: the copy has every one, and none is missing between
// live ones, nor is one archived that is newer.
func TestSegmentsMoveMeanwhile(t *testing.T) {
	const segments = 5
	segment := func(dir string, i int, ext string) string { return fmt.Sprintf("%s/%020d%s", dir, 100*i+1, ext) }
	for moment := range segments {
		for upTo := range segments {
			from, c := t.TempDir(), copier{to: t.TempDir(), files: map[string]File{}}
			for _, dir := range []string{journal.LiveDir, journal.ArchiveDir} {
				if err := os.Mkdir(filepath.Join(from, dir), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for i := range segments {
				if err := os.WriteFile(filepath.Join(from, segment(journal.LiveDir, i, ".seg")), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}

			opened := 0
			c.from = from
			c.before = func(string) {
				if opened++; opened != moment+1 {
					return
				}
				for i := range upTo {
					live, archived := segment(journal.LiveDir, i, ".seg"), segment(journal.ArchiveDir, i, ".seg.zst")
					if err := os.Rename(filepath.Join(from, live), filepath.Join(from, archived)); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := c.journal(); err != nil {
				t.Fatal(err)
			}
			checkCopy(t, c.files, segments, segment)
		}
	}
}

// checkCopy wants each segment once: archived ones first, then live ones.
func checkCopy(t *testing.T, files map[string]File, segments int, segment func(dir string, i int, ext string) string) {
	t.Helper()
	archived := 0
	for i := range segments {
		_, inArchive := files[segment(journal.ArchiveDir, i, ".seg.zst")]
		_, isLive := files[segment(journal.LiveDir, i, ".seg")]
		if inArchive == isLive || inArchive && archived != i {
			t.Fatalf("segment %d: archived %t, live %t, of %q", i, inArchive, isLive, slices.Sorted(maps.Keys(files)))
		}
		if inArchive {
			archived++
		}
	}
}
