package standby

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
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

// Copied keeps a copy of a part. One goroutine calls Ask; the other methods are safe for concurrent
// use.
type Copied struct {
	peer *Peer
	disk disk.Disk
	// path names the part at the source; incoming is the file for it on its way.
	path     string
	incoming incoming
	install  func(d disk.Disk, from string) error

	// stamp is that of the installed copy. pending waits for the copy of the journal.
	stamp   string
	pending *waiting

	mu   sync.Mutex
	asOf time.Time
}

// waiting is a part that waits for the copy of the journal; sent is when it was asked for.
type waiting struct {
	copied
	sent time.Time
}

// CopyAccounts returns the copy of the accounts in a data directory.
func CopyAccounts(p *Peer, d disk.Disk) *Copied {
	return &Copied{
		peer: p, disk: d, path: accountsPath, incoming: incoming{d, "incoming.accounts"}, install: installAccounts,
	}
}

// CopySecrets returns the copy of the secrets in a data directory.
func CopySecrets(p *Peer, d disk.Disk) *Copied {
	return &Copied{
		peer: p, disk: d, path: secretsPath, incoming: incoming{d, "incoming.secrets"}, install: installSecrets,
	}
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

// Ask brings the copy up to date, once the copy of the journal, durable up to seq, has the commands
// that the part may refer to. now is the time of the question. An error of the copy's own disk is
// ErrDisk; any other may pass.
func (c *Copied) Ask(ctx context.Context, now time.Time, seq bourse.Seq) error {
	if c.pending == nil {
		got, err := c.peer.part(ctx, c.path, c.stamp, c.incoming)
		if err != nil {
			return err
		}
		if got == nil {
			c.whole(now)
			return nil
		}
		c.pending = &waiting{*got, now}
	}
	if c.pending.seq > seq {
		return nil
	}

	w := c.pending
	c.pending = nil
	if err := c.install(c.disk, c.incoming.name); err != nil {
		return fmt.Errorf("installing the copy of %s: %w", strings.TrimPrefix(c.path, "/"), err)
	}
	c.stamp = w.stamp
	c.whole(w.sent)
	return nil
}

// installAccounts replaces the database, which a standby never opens.
func installAccounts(d disk.Disk, from string) error {
	err := d.Rename(from, accountsDB)
	if err == nil {
		err = d.SyncDir(".")
	}
	return ownDisk(err)
}

// installSecrets replaces each file by the copied one.
func installSecrets(d disk.Disk, from string) (err error) {
	f, err := d.Open(from)
	if err != nil {
		return ownDisk(err)
	}
	defer func() { err = errors.Join(err, ownDisk(errors.Join(f.Close(), d.Remove(from)))) }()
	size, err := f.Size()
	if err != nil {
		return ownDisk(err)
	}

	files := tar.NewReader(io.NewSectionReader(f, 0, size))
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
		if err := replaceFile(d, head.Name, files); err != nil {
			return ownDisk(err)
		}
	}
}

// belongs reports whether a name is of a file below one of the directories of secrets.
func belongs(name string) bool {
	first, _, below := strings.Cut(name, "/")
	return below && filepath.IsLocal(name) && path.Clean(name) == name && slices.Contains(Secrets(), first)
}

// replaceFile replaces a file, durably and at once.
func replaceFile(d disk.Disk, name string, from io.Reader) error {
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
