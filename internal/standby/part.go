package standby

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The headers of a part: its stamp is the ETag, sumHeader the SHA-256 of its bytes, and seqHeader the
// journal's last durable command after it was made.
const (
	seqHeader = "Bourse-Seq"
	sumHeader = "Bourse-Sum"
)

// A part is made at most once in leastRest, and takes at most a tenth of the time.
const (
	leastRest  = time.Second
	restFactor = 9
)

// Part is something of a data directory, besides the journal, that followers copy whole.
type Part struct {
	// Stamp changes with the content. Make writes the content to a new file.
	Stamp func() (string, error)
	Make  func(ctx context.Context, to string) error
	// Temporary is the file that Make writes.
	Temporary string

	// mu is held while the part is made and sent; next is the earliest time to make it again.
	mu   sync.Mutex
	next time.Time
}

// errRests tells a follower to ask for a part later.
var errRests = errors.New("it is copied too often; ask again in a second")

// part answers with a part, unless the follower has it.
func (s *Source) part(p *Part, w http.ResponseWriter, r *http.Request) {
	if p == nil {
		http.Error(w, "it is on a server", http.StatusNotFound)
		return
	}
	if !p.mu.TryLock() {
		http.Error(w, errRests.Error(), http.StatusServiceUnavailable)
		return
	}
	defer p.mu.Unlock()

	stamp, err := p.Stamp()
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	case stamp == r.Header.Get("If-None-Match"):
		w.WriteHeader(http.StatusNotModified)
		return
	case s.Clock().Before(p.next):
		http.Error(w, errRests.Error(), http.StatusServiceUnavailable)
		return
	}

	began := s.Clock()
	err = s.sendPart(p, stamp, w, r)
	p.next = s.Clock().Add(max(leastRest, restFactor*s.Clock().Sub(began)))
	if err != nil && r.Context().Err() == nil {
		s.Log.Warn("a copy for a standby failed", slog.Any("error", err))
	}
}

// sendPart makes a part and sends it.
func (s *Source) sendPart(p *Part, stamp string, w http.ResponseWriter, r *http.Request) (err error) {
	_ = os.Remove(p.Temporary) // an earlier attempt may have left it
	if err := p.Make(r.Context(), p.Temporary); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return err
	}
	seq := s.Durable()

	f, err := os.Open(p.Temporary)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read only
	_ = os.Remove(p.Temporary)       // an open file stays until it is closed
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return err
	}

	head := w.Header()
	head.Set("ETag", stamp)
	head.Set(seqHeader, strconv.FormatUint(uint64(seq), 10))
	head.Set(sumHeader, hex.EncodeToString(sum.Sum(nil)))
	head.Set("Content-Length", strconv.FormatInt(size, 10))
	out := newPatient(r.Context(), w, s.Clock)
	if _, err := io.Copy(out, f); err != nil {
		return err
	}
	return out.Flush()
}

// StampFiles returns a stamp of files; missing ones count as empty.
func StampFiles(paths ...string) (string, error) {
	h := sha256.New()
	for _, path := range paths {
		err := filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return ignoreMissing(err)
			}
			info, err := d.Info()
			if err == nil {
				_, err = fmt.Fprintf(h, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
			}
			return ignoreMissing(err)
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Pack writes directories below dir to a tar file. Files may grow meanwhile: each is as long as
// it was when its turn came.
func Pack(dir, to string, names ...string) (err error) {
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the program's own name
	if err != nil {
		return err
	}
	t := tar.NewWriter(out)
	for _, name := range names {
		err := filepath.WalkDir(filepath.Join(dir, name), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || strings.HasSuffix(path, ".tmp") {
				return ignoreMissing(err)
			}
			return ignoreMissing(packFile(t, dir, path))
		})
		if err != nil {
			return errors.Join(err, out.Close())
		}
	}
	return errors.Join(t.Close(), out.Close())
}

func packFile(t *tar.Writer, dir, path string) error {
	f, err := os.Open(path) //nolint:gosec // below the data directory
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read only
	info, err := f.Stat()
	if err != nil {
		return err
	}
	name, err := filepath.Rel(dir, path)
	if err != nil {
		return err
	}
	if err := t.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o600, Size: info.Size()}); err != nil {
		return err
	}
	_, err = io.CopyN(t, f, info.Size())
	return err
}
