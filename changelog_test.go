package bourse_test

import (
	"strings"
	"testing"
)

// TestChangelogListsOnce wants each entry of the changelog once. Branches that add the same
// entry in different places leave it twice when they are merged.
func TestChangelogListsOnce(t *testing.T) {
	_, list, _ := strings.Cut(read(t, "CHANGELOG.md"), "\n- ")
	seen := map[string]bool{}
	for _, entry := range strings.Split(list, "\n- ") {
		entry, _, _ = strings.Cut(entry, "\n#")
		if entry = strings.Join(strings.Fields(entry), " "); seen[entry] {
			t.Errorf("twice: %s", entry)
		}
		seen[entry] = true
	}
	if len(seen) < 2 {
		t.Errorf("%d entries", len(seen))
	}
}
