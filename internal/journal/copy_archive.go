package journal

import (
	"context"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
)

// CopyArchive copies the archived segments of another node's journal that come before a segment, whose header base is,
// each one verified. They must lead from the first command to base. It may be called while the other node runs, and
// again after a crash. The end of ctx ends it between two segments.
func (f *Files) CopyArchive(ctx context.Context, from *Files, base *Header) error {
	k, err := from.kept()
	if err != nil {
		return err
	}
	firsts := slices.DeleteFunc(k.archived, func(first bourse.Seq) bool { return first >= base.First() })
	if len(firsts) == 0 || firsts[0] != 1 {
		return compacted(slices.Concat(firsts, []bourse.Seq{base.First()})[0])
	}
	if err := ensureDir(f.disk, ArchiveDir); err != nil {
		return err
	}

	var end *segment
	for i, first := range firsts {
		if err := ctx.Err(); err != nil {
			return err
		}
		following := base.First()
		if i+1 < len(firsts) {
			following = firsts[i+1]
		}
		s, err := f.copyArchived(from, first, following)
		if err != nil {
			return err
		}
		if end != nil {
			if err := s.continues(end); err != nil {
				return err
			}
		}
		end = &segment{name: s.name, head: s.head, tip: s.tip, at: s.at} // its bytes go
	}
	return (&segment{name: base.Name(), head: *base}).continues(end)
}

// copyArchived verifies an archived segment, which must end before the command following, and writes the bytes that it
// has verified.
func (f *Files) copyArchived(from *Files, first, following bourse.Seq) (*segment, error) {
	packed, err := disk.ReadFile(from.disk, archiveName(first))
	if err != nil {
		return nil, err
	}
	s, err := from.unpacked(first, packed)
	if err != nil {
		return nil, err
	}
	if err := s.verify(following); err != nil {
		return nil, err
	}
	return s, disk.Replace(f.disk, s.name, s.name+tempExt, packed)
}
