package standby

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
)

// roleName is the file with the role of a data directory; an exchange has none.
const roleName = "role.json"

// Role is the role of a data directory, unless it is just an exchange's.
type Role struct {
	// Follows is the node address of the exchange that the directory is a copy of, or the list of those of a cluster's
	// nodes; empty if it is none.
	Follows string `json:"follows,omitempty"`
	// Differs, if not empty, says why the copy can never become the exchange.
	Differs string `json:"differs,omitempty"`
	// Raise, if not zero, is the incarnation that the next start begins, and Why the reason that
	// the start journals. The journal may lack the end of the exchange's life before.
	Raise bourse.Incarnation `json:"raise,omitempty"`
	Why   string             `json:"why,omitempty"`
}

// ReadRole returns the role of a data directory; the zero Role for an exchange.
func ReadRole(d disk.Disk) (Role, error) {
	var r Role
	text, err := disk.ReadFile(d, roleName)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%s: %w", roleName, err)
	}
	if (r.Follows == "") == (r.Raise == 0) {
		return r, fmt.Errorf("%s: neither a standby nor one that became the exchange", roleName)
	}
	return r, nil
}

// Write makes r the role of a data directory, durably and at once.
func (r Role) Write(d disk.Disk) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return disk.Replace(d, roleName, roleName+".tmp", append(text, '\n'))
}

// EndRole makes a data directory an exchange's.
func EndRole(d disk.Disk) error {
	if err := d.Remove(roleName); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return d.SyncDir(".")
}
