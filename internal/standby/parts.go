package standby

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
)

// accountsDB is the database of accounts in a data directory.
const accountsDB = "accounts.db"

// Secrets lists the directories with what a copy needs besides journal and accounts: keys and the
// record of the signer, the key that seals second factors, and a sandbox's networks.
func Secrets() []string { return []string{"accounts", "signer", "devnet"} }

// Copied keeps a copy of a part. One goroutine calls Ask; the rest is safe for concurrent use.
type Copied struct {
	Peer *Peer
	Disk *disk.Dir
	// Dir is the path of Disk; path names the part at the source.
	Dir, path string
	install   func(c *Copied, from string) error

	stamp   string
	pending *waiting
	mu      sync.Mutex
	asOf    time.Time
}

// waiting is a copy that waits for the journal's copy.
type waiting struct {
	copied
	file string
	sent time.Time
}

// CopyAccounts returns the copy of the accounts.
func CopyAccounts(p *Peer, d *disk.Dir, dir string) *Copied {
	return &Copied{Peer: p, Disk: d, Dir: dir, path: accountsPath, install: installAccounts}
}

// CopySecrets returns the copy of the secrets.
func CopySecrets(p *Peer, d *disk.Dir, dir string) *Copied {
	return &Copied{Peer: p, Disk: d, Dir: dir, path: secretsPath, install: installSecrets}
}

// OfAccounts reports whether the part is the accounts.
func (c *Copied) OfAccounts() bool { return c.path == accountsPath }

// AsOf returns the time as of which the copy is whole; zero if there is none.
func (c *Copied) AsOf() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asOf
}

func (c *Copied) whole(asOf time.Time) {
	c.mu.Lock()
	c.asOf = asOf
	c.mu.Unlock()
}

// Ask brings the copy up to date, as far as the journal's copy, which is durable up to seq, has
// the commands that the new one may refer to. now is the time of the question.
func (c *Copied) Ask(ctx context.Context, now time.Time, seq bourse.Seq) error {
	if c.pending == nil {
		file := "incoming" + strings.ReplaceAll(c.path, "/", ".")
		got, err := c.Peer.part(ctx, c.path, c.stamp, filepath.Join(c.Dir, file))
		if err != nil {
			return err
		}
		if got == nil {
			c.whole(now)
			return nil
		}
		c.pending = &waiting{*got, file, now}
	}
	if c.pending.seq > seq {
		return nil
	}

	w := c.pending
	c.pending = nil
	if err := c.install(c, w.file); err != nil {
		return fmt.Errorf("installing the copy of %s: %w", strings.TrimPrefix(c.path, "/"), err)
	}
	c.stamp = w.stamp
	c.whole(w.sent)
	return nil
}

// installAccounts gives the database its name. Nobody has the old one open.
func installAccounts(c *Copied, from string) error {
	if err := c.Disk.Rename(from, accountsDB); err != nil {
		return err
	}
	return c.Disk.SyncDir(".")
}

// installSecrets replaces each file by the copied one.
func installSecrets(c *Copied, from string) (err error) {
	f, err := os.Open(filepath.Join(c.Dir, from)) //nolint:gosec // a name of ours
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close(), c.Disk.Remove(from)) }()
	files := tar.NewReader(f)
	for {
		head, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !belongs(head.Name) {
			return fmt.Errorf("the source sends %q, which is none of the secrets", head.Name)
		}
		if err := replaceFile(c.Disk, head.Name, files); err != nil {
			return err
		}
	}
}

// belongs reports whether a name is of a file below one of the directories of secrets.
func belongs(name string) bool {
	first, _, below := strings.Cut(name, "/")
	return below && filepath.IsLocal(name) && path.Clean(name) == name && slices.Contains(Secrets(), first)
}

// replaceFile replaces a file, durably and at once.
func replaceFile(d *disk.Dir, name string, from io.Reader) error {
	if err := d.MkdirAll(path.Dir(name)); err != nil {
		return err
	}
	tmp := name + ".tmp"
	err := disk.Write(d, tmp, func(f disk.File) error {
		_, err := io.Copy(io.NewOffsetWriter(f, 0), from)
		return err
	})
	if err != nil {
		return err
	}
	if err := d.Rename(tmp, name); err != nil {
		return err
	}
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		if err := d.SyncDir(dir); err != nil || dir == "." {
			return err
		}
	}
}
