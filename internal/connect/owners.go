package connect

import (
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/bourse-exchange/bourse/internal/chain/hdkeys"
	"github.com/bourse-exchange/bourse/internal/disk"
)

// addressesDir is the directory of the files of derived addresses in the data directory, one for each network
// whose accounts have addresses of their own.
const addressesDir = "addresses"

// share returns the owners that the clients of all nodes have: an address is derived once, and stands in memory
// once.
func (l *Local) share(s *Settings, public fmt.Stringer, owners func() *hdkeys.Owners) *hdkeys.Owners {
	if l.owners != nil {
		return l.owners
	}
	l.owners = owners()
	if l.Data == "" {
		return l.owners
	}
	d, err := disk.Open(filepath.Join(l.Data, addressesDir))
	if err != nil {
		l.Log.Warn("derived addresses cannot be kept: each start derives them", slog.Any("error", err))
		return l.owners
	}
	l.owners.Keep(hdkeys.OpenFile(d, string(s.Symbol), s.Chain, public.String(), l.Log), l.Log)
	_ = d.Close() // the file stays open
	return l.owners
}

// closeOwners closes the file of derived addresses.
func (l *Local) closeOwners() error {
	if l.owners == nil {
		return nil
	}
	return l.owners.Close()
}
