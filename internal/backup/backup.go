package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/audit"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/standby"
)

// manifestName is the file that makes a directory a backup.
const manifestName = "BACKUP.json"

// format is the version of the manifest.
const format = 2

// AccountsDB is the database of accounts and keys in a data directory.
const AccountsDB = "accounts.db"

// Manifest describes a backup.
type Manifest struct {
	Format   int    `json:"format"`
	Exchange string `json:"exchange"`
	Sandbox  bool   `json:"sandbox"`
	// Taken is the start of the backup, RFC 3339.
	Taken string `json:"taken"`
	// The head of the journal: Seq is its last command, Chain the hash of its frame,
	// StateHash the state there, Voids the number of void commands.
	Seq       bourse.Seq `json:"seq"`
	Chain     string     `json:"chain"`
	StateHash string     `json:"state_hash"`
	Voids     int        `json:"voids"`
	// Files maps names, with slashes between directories, to files.
	Files map[string]File `json:"files"`
}

// File is one file of a backup.
type File struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Accounts writes a consistent copy of the accounts database to a file.
type Accounts func(ctx context.Context, from, to string) error

// Source has the files that a backup copies.
type Source struct {
	// Dir is the data directory of an exchange, of its standby or of a cluster's node.
	Dir      string
	Accounts Accounts
	// Cluster is nil unless Dir is a node's.
	Cluster *Cluster
}

// Take copies an exchange, or its standby, to dest, which must be empty or missing. It
// refuses a standby that can never become the exchange: a backup can.
func Take(ctx context.Context, s Source, dest string, now time.Time) (*Manifest, error) {
	if err := empty(dest); err != nil {
		return nil, err
	}
	if err := agrees(s.Dir); err != nil {
		return nil, err
	}

	common := s.Dir
	if s.Cluster != nil {
		common = s.Cluster.Common
	}
	c := copier{from: s.Dir, to: dest, files: map[string]File{}}
	if err := os.MkdirAll(dest, 0o700); err != nil {
		return nil, err
	}
	if err := s.Accounts(ctx, filepath.Join(common, AccountsDB), filepath.Join(dest, AccountsDB)); err != nil {
		return nil, fmt.Errorf("%s: %w", AccountsDB, err)
	}
	if err := c.enter(AccountsDB); err != nil {
		return nil, err
	}

	if err := c.commands(ctx, s.Cluster); err != nil {
		return nil, err
	}
	c.from = common
	for _, dir := range standby.Secrets() {
		if err := c.tree(dir); err != nil {
			return nil, err
		}
	}

	m := &Manifest{Format: format, Taken: now.UTC().Format(time.RFC3339), Files: c.files}
	if _, err := m.replay(dest); err != nil {
		return nil, fmt.Errorf("the copy does not replay: %w", err)
	}
	return m, m.write(dest)
}

// agrees returns an error if a directory is a standby's whose state differs from its source's.
func agrees(dir string) (err error) {
	d, err := disk.OpenExisting(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	role, err := standby.ReadRole(d)
	if err == nil && role.Differs != "" {
		err = fmt.Errorf("%s is no copy to restore from: %s", dir, role.Differs)
	}
	return err
}

// empty returns an error unless a directory is missing or empty.
func empty(dir string) error {
	names, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && len(names) > 0 {
		err = fmt.Errorf("%s is not empty", dir)
	}
	return err
}

// copier copies files of a data directory.
type copier struct {
	from, to string
	files    map[string]File
	// before is a hook of tests, called before a file is opened.
	before func(name string)
}

// commands copies the journal, of which the copied accounts know nothing more.
func (c *copier) commands(ctx context.Context, of *Cluster) error {
	if of != nil {
		return c.frames(ctx, of)
	}
	return c.journal()
}

// journal copies snapshots and segments. Live segments come before the archive, so that
// the copy has a segment that moves meanwhile.
func (c *copier) journal() error {
	if err := c.directory("snapshots", func(name string) bool { return strings.HasSuffix(name, ".snap") }); err != nil {
		return err
	}
	first, err := c.live()
	if err != nil {
		return err
	}
	older := func(name string) bool { return first == "" || name < first || !strings.HasSuffix(name, ".zst") }
	if err := c.directory(journal.ArchiveDir, older); err != nil {
		return err
	}
	return c.file("voids")
}

// live copies the live segments, and returns the name of the first copied one without its
// suffix. Segments move to the archive oldest first, so a copy from the newest backwards
// has no gap.
func (c *copier) live() (first string, err error) {
	for {
		names, err := c.names(journal.LiveDir, func(name string) bool { return strings.HasSuffix(name, ".seg") })
		if err != nil || len(names) == 0 {
			return "", err
		}
		for _, name := range slices.Backward(names) {
			in := journal.LiveDir + "/" + name
			if err := c.file(in); err != nil {
				return "", err
			}
			if _, copied := c.files[in]; !copied {
				break
			}
			first = strings.TrimSuffix(name, ".seg")
		}
		if first != "" {
			return first, nil
		}
	}
}

// tree copies a directory recursively. Its records only grow, and are copied after the
// journal so that they cover all of it.
func (c *copier) tree(dir string) error {
	names, err := os.ReadDir(filepath.Join(c.from, dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, name := range names {
		below := dir + "/" + name.Name()
		if name.IsDir() {
			err = c.tree(below)
		} else if !strings.HasSuffix(below, ".tmp") {
			err = c.file(below)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// names lists the wanted files of a directory, sorted; none if it is missing.
func (c *copier) names(dir string, wanted func(name string) bool) (names []string, err error) {
	list, err := os.ReadDir(filepath.Join(c.from, dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range list {
		if wanted(e.Name()) && !strings.HasSuffix(e.Name(), ".tmp") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// directory copies the wanted files of a directory.
func (c *copier) directory(dir string, wanted func(name string) bool) error {
	names, err := c.names(dir, wanted)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := c.file(dir + "/" + name); err != nil {
			return err
		}
	}
	return nil
}

// file copies a file, unless it is gone.
func (c *copier) file(name string) error {
	if c.before != nil {
		c.before(name)
	}
	in, err := os.Open(filepath.Join(c.from, name)) //nolint:gosec // the operator names the directory
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // read-only

	to := filepath.Join(c.to, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // as above
	if err != nil {
		return err
	}

	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(out, sum), in)
	if err == nil {
		err = out.Sync()
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	c.files[name] = File{size, hex.EncodeToString(sum.Sum(nil))}
	return nil
}

// enter adds an already copied file to the manifest.
func (c *copier) enter(name string) error {
	f, err := os.Open(filepath.Join(c.to, name)) //nolint:gosec // the operator names the directory
	if err != nil {
		return err
	}
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	if err == nil {
		err = f.Sync()
	}
	c.files[name] = File{size, hex.EncodeToString(sum.Sum(nil))}
	return errors.Join(err, f.Close())
}

// replay verifies and replays the journal in a directory, and returns its incarnation. It sets the head of a new
// manifest, or compares the result with the head of an existing one.
func (m *Manifest) replay(dir string) (_ bourse.Incarnation, err error) {
	x, err := audit.Open(dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	if _, err := x.Verify(nil); err != nil {
		return 0, err
	}
	end, err := x.ReplayNewest(audit.Everything)
	if err != nil {
		return 0, err
	}

	hash := end.Engine.StateHash()
	got := Manifest{
		Exchange: hex.EncodeToString(x.Identity.Exchange[:]), Sandbox: x.Identity.Sandbox,
		Seq: end.Engine.Seq(), Chain: hex.EncodeToString(end.Tip.Chain[:]), StateHash: hex.EncodeToString(hash[:]),
		Voids: len(x.Voids.All()),
	}
	if m.StateHash == "" {
		got.Format, got.Taken, got.Files = m.Format, m.Taken, m.Files
		*m = got
		return end.Engine.Incarnation(), nil
	}

	if m.Exchange != got.Exchange || m.Sandbox != got.Sandbox || m.Seq != got.Seq || m.Chain != got.Chain ||
		m.StateHash != got.StateHash || m.Voids != got.Voids {
		return 0, fmt.Errorf("it reaches command %d with chain %s, state %s and %d voids, not %d with %s, %s and %d",
			got.Seq, got.Chain, got.StateHash, got.Voids, m.Seq, m.Chain, m.StateHash, m.Voids)
	}
	return end.Engine.Incarnation(), nil
}

// write writes the manifest and makes the backup durable.
func (m *Manifest) write(dest string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	d, err := disk.OpenExisting(dest)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }() // everything is synced below
	err = disk.Write(d, manifestName, func(f disk.File) error {
		_, err := f.WriteAt(append(text, '\n'), 0)
		return err
	})
	if err != nil {
		return err
	}
	return syncDirs(d, m.Files)
}

// syncDirs makes the names of files, and of the directories above them, durable.
func syncDirs(d *disk.Dir, files map[string]File) error {
	dirs := map[string]bool{".": true}
	for name := range files {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	for dir := range dirs {
		if err := d.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}
