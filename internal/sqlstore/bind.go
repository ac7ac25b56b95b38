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

// elsewhere is the file in a data directory that names the server with the accounts.
// Without it an exchange could be opened, or backed up, with a file that was left behind.
const elsewhere = "accounts.elsewhere"

// ErrElsewhere reports that the accounts of a data directory are on a server.
var ErrElsewhere = errors.New("the accounts of this exchange are on a server")

// Bind checks the requested location of the accounts against the recorded one, and
// records a server. accounts is a URL, or empty for the data directory.
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
	shown, err := WithoutSecrets(accounts)
	if err != nil {
		return fmt.Errorf("--accounts %w", err)
	}
	return os.WriteFile(path, []byte(shown+"\n"), 0o600)
}

// WithoutSecrets returns a database's URL without user and query, either of which may
// hold a password. The error names no part of the URL.
func WithoutSecrets(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", errors.New("is no URL") // the parser's error would show the password
	}
	u.User, u.RawQuery = nil, ""
	return u.String(), nil
}
