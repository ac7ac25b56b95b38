package journal

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
)

// ErrNoSource means that no other node has the entries that a damaged segment lacks.
var ErrNoSource = errors.New("no other node has the entries that are damaged")

// errRefusedEntries means that the entries which are damaged were never committed.
var errRefusedEntries = errors.New("other entries were committed in the place of the damaged ones")

// Mend replaces the live segments of a stopped node of a cluster in which entries are damaged: it writes
// them again, with the entries between the last whole one and the next from another node's journal. It returns the
// names of those segments, and keeps copies of the damaged ones in TornDir.
//
// Raft makes this safe: two logs that have the same entry, of one index and one term, are equal up to it. The node
// has again exactly the entries that it acknowledged, so that it votes on under its id. An entry is mended only if a
// whole entry of the node itself, or the header of its next segment, follows: behind the last whole one the node may
// have acknowledged entries without a trace. The error is then a *DamageError. It also is one if another node has
// committed other entries there: a later leader has refused the damaged ones, and no node has them.
func (f *Files) Mend(others []*Files) (mended []string, err error) {
	k, err := f.kept()
	if err != nil {
		return nil, err
	}
	for i, first := range k.live {
		following := (*Header)(nil)
		if i+1 < len(k.live) {
			if following, err = f.header(k.live[i+1]); err != nil {
				return mended, err
			}
		}
		name, err := f.mendSegment(first, following, others)
		if err != nil {
			return mended, err
		}
		if name != "" {
			mended = append(mended, name)
		}
	}
	return mended, nil
}

// header returns the header of a segment.
func (f *Files) header(first bourse.Seq) (*Header, error) {
	s, err := f.open(first)
	if err != nil {
		return nil, err
	}
	return &s.head, s.close()
}

// mendSegment mends a live segment, if it is damaged, and returns its name then.
func (f *Files) mendSegment(first bourse.Seq, following *Header, others []*Files) (string, error) {
	s, err := f.openLive(first)
	if err != nil {
		return "", err
	}
	defer func() { _ = s.close() }() // it was only read
	if s.head.Replica == nil {
		return "", ErrReplica
	}
	if whole, err := s.whole(following); whole || err != nil {
		return "", err
	}

	again, err := f.openLive(first)
	if err != nil {
		return "", err
	}
	defer func() { _ = again.close() }() // it was only read
	tmp := s.name + tempExt
	m := &mend{source: again, others: others, following: following, tip: s.head.Tip, at: s.head.Replica.At}
	if err := disk.Write(f.disk, tmp, m.write); err != nil {
		return "", err
	}
	if err := f.checkMended(tmp, first, following); err != nil {
		return "", err
	}
	return s.name, f.swap(s, tmp)
}

// whole reports whether a segment is undamaged. Torn bytes at the end of the last one are no damage.
func (s *segment) whole(following *Header) (bool, error) {
	err := s.toEnd()
	if damage := (*DamageError)(nil); errors.As(err, &damage) {
		return false, nil
	}
	if !noEntry(err) {
		return false, err
	}

	rest, failed := s.remains()
	switch {
	case failed != nil:
		return false, failed
	case following == nil:
		return !rest.proof, nil
	default:
		return rest.to == rest.from && s.tip == following.Tip && s.at == following.Replica.At, nil
	}
}

// checkMended reads a segment that was written again, and wants it whole to its last byte.
func (f *Files) checkMended(name string, first bourse.Seq, following *Header) error {
	file, err := f.disk.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	size, err := file.Size()
	if err != nil {
		return err
	}
	s, err := f.newSegment(file, size, name, first)
	if err != nil {
		return err
	}
	whole, err := s.whole(following)
	if err == nil && (!whole || s.off != size) {
		err = fmt.Errorf("%s was written otherwise", name)
	}
	return err
}

// damagedName begins the names of copies of damaged segments in TornDir. A segment has one, the newest.
const damagedName = "damaged-"

// swap keeps a copy of a damaged segment, and puts the mended one in its place.
func (f *Files) swap(s *segment, tmp string) error {
	if err := ensureDir(f.disk, TornDir); err != nil {
		return err
	}
	if err := disk.Copy(f.disk, s.name, path.Join(TornDir, damagedName+path.Base(s.name))); err != nil {
		return err
	}
	if err := f.disk.SyncDir(TornDir); err != nil {
		return err
	}
	if err := f.disk.Rename(tmp, s.name); err != nil {
		return err
	}
	return f.disk.SyncDir(LiveDir)
}

// mend writes a damaged segment again.
type mend struct {
	// source is the damaged segment, following the header of the next one; nil for the last.
	source    *segment
	following *Header
	others    []*Files

	to  disk.File
	off int64
	// unwritten are the bytes that end at off and are not in the file yet.
	unwritten []byte
	// tip and at are the tip and the position behind the last entry that was added, commit the last index that it
	// says is committed.
	tip    Tip
	at     Position
	commit uint64
}

// mostUnwritten is the number of bytes after which a mend writes: 1 MiB.
const mostUnwritten = 1 << 20

// write writes the segment.
func (m *mend) write(to disk.File) error {
	m.to, m.unwritten, m.off = to, m.source.head.Bytes(), Block
	for done := false; !done; {
		var e Entry
		err := m.source.next(&e)
		if err == nil {
			err = m.add(&e)
		} else {
			done, err = m.across(err)
		}
		if err != nil {
			return err
		}
	}
	return m.flush()
}

// add adds an entry, which must follow the one before.
func (m *mend) add(e *Entry) error {
	if err := e.Frame.Follows(&m.tip); err != nil {
		return err
	}
	if e.Kind.Replicated() {
		m.at = Position{m.at.Index + 1, e.Frame.Term}
	}
	if e.Index != m.at.Index {
		return fmt.Errorf("entry has index %d, not %d", e.Index, m.at.Index)
	}
	m.commit = max(m.commit, e.Commit)
	// All of the file is durable before it gets its name.
	again := Entry{Kind: e.Kind, Synced: m.off, Index: e.Index, Commit: m.commit}
	m.unwritten = m.source.head.Append(m.unwritten, m.off, &again, e.Encoded)
	m.off += int64(again.Size)
	if e.Kind == EntryBatch {
		b := e.Batch()
		m.tip = b.Tip()
	}
	if len(m.unwritten) < mostUnwritten {
		return nil
	}
	return m.flush()
}

func (m *mend) flush() error {
	_, err := m.to.WriteAt(m.unwritten, m.off-int64(len(m.unwritten)))
	m.unwritten = m.unwritten[:0]
	return err
}

// across gets over an entry that cannot be read, why being the reason. It returns true at the end.
func (m *mend) across(why error) (done bool, err error) {
	s := m.source
	if damage := (*DamageError)(nil); !noEntry(why) && !errors.As(why, &damage) {
		return false, why
	}
	next, off, err := s.closing()
	switch {
	case err != nil:
		return false, err
	case next != nil:
		if err := m.fetch(next.Index, func(e *Entry) bool { return e.Chain == next.Chain }); err != nil {
			return false, err
		}
		s.off, s.at, s.tip, s.last = off+int64(next.Size), m.at, m.tip, EntryBatch
		return false, nil
	case m.following != nil:
		to := m.following.Replica.At
		if m.at == to {
			return true, nil
		}
		return true, m.fetch(to.Index, func(e *Entry) bool { return e.Frame.Term == to.Term })
	}

	rest, err := s.remains()
	if err == nil && rest.to > rest.from {
		err = s.damage(why)
	}
	return true, err
}

// closing returns the next whole entry of raft behind the position, and its offset; nil if there is none.
func (s *segment) closing() (*Entry, int64, error) {
	s.win.drop()
	for off := s.off; off < s.win.size; off += Block {
		var e Entry
		err := s.head.parseEntry(s.win.get, off, &e)
		switch {
		case err == nil && e.Kind.Replicated() && e.Index > s.at.Index:
			return &e, off, nil
		case err != nil && !noEntry(err) && !errors.Is(err, errMalformed):
			return nil, 0, err
		}
	}
	return nil, 0, nil
}

// fetch adds the entries up to an index from the first node that has them, the last of which must be the own one. It
// holds them in memory meanwhile: a segment of them at most.
func (m *mend) fetch(to uint64, own func(last *Entry) bool) error {
	failed := []error{fmt.Errorf("%w: %d to %d", ErrNoSource, m.at.Index+1, to)}
	for _, other := range m.others {
		var list []*Entry
		err := other.replicated(m.at.Index+1, to, func(e *Entry) bool {
			if e.Kind.Replicated() {
				e.Encoded = slices.Clone(e.Encoded)
				list = append(list, e)
			}
			return true
		})
		if err == nil && !own(list[len(list)-1]) {
			if other.hasCommitted(to) {
				return m.source.damage(errRefusedEntries)
			}
			err = errors.New("its log is another one")
		}
		if err != nil {
			failed = append(failed, err)
			continue
		}
		for _, e := range list {
			if err := m.add(e); err != nil {
				return err
			}
		}
		return nil
	}
	return errors.Join(failed...)
}
