package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/anchor"
	"github.com/bourse-exchange/bourse/internal/audit"
)

// journalCmd inspects a journal. DIR is a data directory.
type journalCmd struct {
	Verify  journalVerify  `cmd:"" help:"Read every frame and snapshot: checksums, hash chain, commands, anchored heads. Exit 3 on damage."`
	Stat    journalStat    `cmd:"" help:"Show how large the journal is and where it stands."`
	Dump    journalDump    `cmd:"" help:"Print commands, one JSON object on a line."`
	Replay  journalReplay  `cmd:"" help:"Replay the journal and print the state hash; hold snapshots against it."`
	Explain journalExplain `cmd:"" help:"Print every change of what an account has of an asset."`
	Fills   journalFills   `cmd:"" help:"Print every fill, or those of an account."`
	Prune   journalPrune   `cmd:"" help:"Delete archived commands for ever; the exchange must not run."`
}

// in opens a data directory and calls f.
func in(dir string, f func(*audit.Exchange) error) error {
	x, err := audit.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f(x), x.Close())
}

// anchored loads the record anchored in a directory, or returns nil if dir is empty.
// Callers load it before the journal, which may grow meanwhile.
func anchored(dir string) (*anchor.Record, error) {
	if dir == "" {
		return nil, nil //nolint:nilnil // nothing to compare
	}
	r, err := anchor.NewDir(dir).Load()
	if err != nil {
		return nil, fmt.Errorf("anchor %s: %w", dir, err)
	}
	return r, nil
}

type journalVerify struct {
	Dir    string `arg:"" type:"existingdir" help:"Data directory."`
	Anchor string `help:"Directory with anchored heads, which the journal must hold." placeholder:"DIR"`
}

// Run verifies a journal.
func (c *journalVerify) Run(p *program) error {
	known, err := anchored(c.Anchor)
	if err != nil {
		return err
	}
	return in(c.Dir, func(x *audit.Exchange) error {
		v, err := x.Verify(known)
		if err != nil {
			return err
		}
		return p.print(v)
	})
}

type journalStat struct {
	Dir string `arg:"" type:"existingdir" help:"Data directory."`
}

// Run shows the size and the sequences of a journal.
func (c *journalStat) Run(p *program) error {
	return in(c.Dir, func(x *audit.Exchange) error {
		s, err := x.Files.Stat()
		if err != nil {
			return err
		}
		snapshots, err := x.Snapshots.List()
		if err != nil {
			return err
		}
		return p.print(map[string]any{
			"exchange": fmt.Sprintf("%x", x.Identity.Exchange), "sandbox": x.Identity.Sandbox,
			"segments": s.Segments, "segment_bytes": s.LiveBytes,
			"archives": s.Archives, "archive_bytes": s.ArchiveBytes,
			"first_seq": s.First, "first_live_seq": s.Live, "last_seq": s.Last, "watermark": s.Proven,
			"sealed": s.Sealed, "snapshots": snapshots, "voided": len(x.Voids.All()),
		})
	})
}

type journalDump struct {
	Dir  string `arg:"" type:"existingdir" help:"Data directory."`
	From uint64 `help:"First sequence." default:"1"`
	To   uint64 `help:"Last sequence; the end, if 0."`
}

// Run prints commands.
func (c *journalDump) Run(p *program) error {
	return in(c.Dir, func(x *audit.Exchange) error {
		out := json.NewEncoder(p.stdout)
		out.SetEscapeHTML(false)
		return x.Dump(bourse.Seq(c.From), upTo(c.To), func(e audit.Entry) error { return out.Encode(e) })
	})
}

func upTo(seq uint64) bourse.Seq {
	if seq == 0 {
		return audit.Everything
	}
	return bourse.Seq(seq)
}

type journalReplay struct {
	Dir string `arg:"" type:"existingdir" help:"Data directory."`
	To  uint64 `help:"Last sequence; the end, if 0."`
}

// Run replays a journal. A differing snapshot is an error.
func (c *journalReplay) Run(p *program) error {
	return in(c.Dir, func(x *audit.Exchange) error {
		r, err := x.States(upTo(c.To), time.Now)
		if err != nil {
			return err
		}
		if err := p.print(r); err != nil {
			return err
		}
		for _, s := range r.Snapshots {
			if !s.Agrees {
				return fmt.Errorf("the snapshot at %d does not agree with the journal", s.Seq)
			}
		}
		return nil
	})
}

type journalExplain struct {
	Dir     string `arg:"" type:"existingdir" help:"Data directory."`
	Account uint32 `arg:"" help:"Account."`
	Asset   string `arg:"" help:"Asset."`
}

// Run explains a balance.
func (c *journalExplain) Run(p *program) error {
	return in(c.Dir, func(x *audit.Exchange) error {
		out := json.NewEncoder(p.stdout)
		out.SetEscapeHTML(false)
		return x.Explain(bourse.AccountID(c.Account), bourse.Symbol(c.Asset),
			func(l audit.Line) error { return out.Encode(l) })
	})
}

type journalFills struct {
	Dir     string `arg:"" type:"existingdir" help:"Data directory."`
	Account uint32 `arg:"" optional:"" help:"Account; all, if none is named."`
}

// Run prints fills.
func (c *journalFills) Run(p *program) error {
	return in(c.Dir, func(x *audit.Exchange) error {
		out := json.NewEncoder(p.stdout)
		out.SetEscapeHTML(false)
		return x.Fills(bourse.AccountID(c.Account), func(f *audit.Fill) error { return out.Encode(f) })
	})
}

type journalPrune struct {
	Dir    string `arg:"" type:"existingdir" help:"Data directory."`
	Before uint64 `required:"" help:"Delete archived files whose commands all lie before this sequence." placeholder:"SEQ"`
	Copy   bool   `name:"i-have-a-copy" required:"" help:"Say that the archive has been copied elsewhere."`
}

// Run prunes the archive.
func (c *journalPrune) Run(p *program) error {
	if !c.Copy {
		return errors.New("nothing is deleted without --i-have-a-copy")
	}
	return in(c.Dir, func(x *audit.Exchange) error {
		r, err := x.Prune(bourse.Seq(c.Before))
		if err != nil {
			return err
		}
		return p.print(r)
	})
}
