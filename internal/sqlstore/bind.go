package sqlstore

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// elsewhere is the file in a data directory that says that the accounts are not in
// it, and where they are. Without it an exchange would be opened, or backed up,
// with a file that was left behind.
const elsewhere = "accounts.elsewhere"

// ErrElsewhere says that the accounts of a data directory are on a server.
var ErrElsewhere = errors.New("the accounts of this exchange are on a server")

// Bind holds where the accounts are asked for against where they are, and notes a
// server that they are on from now on. The URL is empty for the data directory.
func Bind(data, accounts string) error {
	path := filepath.Join(data, elsewhere)
	if accounts == "" {
		text, err := os.ReadFile(path) //nolint:gosec // the operator names the directory
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return errors.Join(fmt.Errorf("%w: %s; name it with --accounts, or move them back and remove %s",
			ErrElsewhere, strings.TrimSpace(string(text)), path), err)
	}
	u, err := url.Parse(accounts)
	if err != nil {
		return errors.New("--accounts is no URL") // the reason would show the password
	}
	u.User, u.RawQuery = nil, "" // either may hold a password
	return os.WriteFile(path, []byte(u.String()+"\n"), 0o600)
}
