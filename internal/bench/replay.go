package bench

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/follower"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/filelog"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/view"
)

// ReplayReport is the result of `bench replay`: a start after a crash, without a
// snapshot. A start that reaches another state than the crashed process is an error.
type ReplayReport struct {
	Commands uint64 `json:"commands"`
	// Rate is over Verify and Replay together.
	Rate float64 `json:"commands_per_second"`
	// Verify is the time to verify and open the journal, Replay the time of engine and
	// views to apply it.
	Verify float64 `json:"verify_s"`
	Replay float64 `json:"replay_s"`
	Hash   string  `json:"state_hash"`
}

// Written is the report of a process that wrote a journal, before it is killed.
type Written struct {
	Seq  bourse.Seq `json:"seq"`
	Hash string     `json:"state_hash"`
}

// Write commits a workload to a journal in a directory, and leaves it as after a crash:
// not closed.
func Write(w *Workload, dir string) (*Written, error) {
	l, err := newLineAt(dir)
	if err != nil {
		return nil, err
	}
	err = errors.Join(l.all(these(w.opening())), l.all(items(w.prefill)), l.all(items(w.measured)), l.halt())
	if err != nil {
		return nil, err
	}
	return &Written{l.engine.Seq(), hash(l.engine)}, nil
}

func hash(e *engine.Engine) string {
	sum := e.StateHash()
	return hex.EncodeToString(sum[:])
}

// Replay runs a process that commits the workload in a file to a journal in a directory
// below dir, kills it, and restarts from the journal.
func Replay(ctx context.Context, workload, dir string) (_ *ReplayReport, err error) {
	path, err := os.MkdirTemp(dir, "bourse-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(path)) }()
	want, err := writeAndDie(ctx, workload, path)
	if err != nil {
		return nil, err
	}
	r, err := restart(path, want.Seq)
	if err == nil && r.Hash != want.Hash {
		err = fmt.Errorf("the state at %d is %s, was %s before the crash", want.Seq, r.Hash, want.Hash)
	}
	return r, err
}

// writeAndDie runs `bourse bench write` until it has written everything, and kills it.
func writeAndDie(ctx context.Context, workload, path string) (*Written, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	process := exec.CommandContext(ctx, self, "bench", "write", //nolint:gosec // it is this program
		"--workload", workload, "--dir", path)

	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, err
	}

	var written Written
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &written)
	}

	_ = process.Process.Kill() // it may have failed
	_ = process.Wait()         // killed: an error is expected
	return &written, err
}

// restart opens the journal and applies all of it, the way a node does.
func restart(path string, last bourse.Seq) (_ *ReplayReport, err error) {
	d, err := disk.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	identity, _, err := journal.Identify(d)
	if err != nil {
		return nil, err
	}

	began := time.Now()
	log, _, err := filelog.Open(d, journal.Options{Identity: identity})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()

	verified := time.Now()
	e, err := replay(log)
	if err != nil {
		return nil, err
	}

	done := time.Now()
	if e.Seq() != last {
		return nil, fmt.Errorf("%w: the journal ends at %d, %d was acknowledged", io.ErrUnexpectedEOF, e.Seq(), last)
	}
	return &ReplayReport{
		Commands: uint64(last), Rate: float64(last) / done.Sub(began).Seconds(),
		Verify: verified.Sub(began).Seconds(), Replay: done.Sub(verified).Seconds(), Hash: hash(e),
	}, nil
}

// replay applies a whole journal to an engine, without a snapshot or history.
func replay(log journal.Log) (*engine.Engine, error) {
	tail := history.NewTail(tailRows)
	reader, err := log.Read(1)
	if err != nil {
		return nil, err
	}
	reader = journal.ReadAhead(reader)

	a := follower.Advance{Reader: reader, To: tail.Unneeded(log.Durable()), Voided: nothing}
	section, err := a.From(nil)
	if err := errors.Join(err, reader.Close()); err != nil {
		return nil, err
	}

	observers := []sequencer.Observer{tail, view.New()}
	e, err := sequencer.Restore(section, observers)
	if err != nil {
		return nil, err
	}

	s := sequencer.New(sequencer.Options{Log: log, Engine: e, Observers: observers, Voided: nothing})
	if reader, err = log.Read(e.Seq() + 1); err != nil {
		return nil, err
	}
	return e, errors.Join(s.Replay(reader, nil), reader.Close())
}
