package backup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/standby"
)

// TestDifferingStandby refuses a backup of a standby whose state differs from its source's: a restore
// would make an exchange of it, which promote refuses.
func TestDifferingStandby(t *testing.T) {
	began := errors.New("the backup began")
	accounts := func(context.Context, string, string) error { return began }
	for differs, want := range map[string]string{"": began.Error(), "after command 7 it is another": "after command 7"} {
		dir, dest := t.TempDir(), filepath.Join(t.TempDir(), "backup")
		d, err := disk.OpenExisting(dir)
		if err == nil {
			err = errors.Join(standby.Role{Follows: "127.0.0.1:1", Differs: differs}.Write(d), d.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Take(t.Context(), Source{Dir: dir, Accounts: accounts}, dest, time.Unix(0, 0)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("differs %q: %v", differs, err)
		}
		if _, err := os.Stat(dest); differs != "" && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a refused backup left %s: %v", dest, err)
		}
	}
}
