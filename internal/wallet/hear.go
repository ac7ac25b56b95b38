package wallet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// hear brings the journal up to date with what the signer signed, and ends the withdrawals
// that wait for the signer's word. It needs no node. An error is the exchange's own.
func (w *Worker) hear(ctx context.Context) error {
	if err := w.takeOver(ctx); err != nil {
		return err
	}
	for _, id := range w.Board.Ending(w.ID) {
		if err := w.Signer.Void(ctx, w.ID, id); err != nil {
			w.complain(id, "the signer does not end a withdrawal", err.Error(), slog.Uint64("xid", uint64(id)))
			continue
		}
		// From here on nothing more is signed for it; what was signed goes first.
		w.synced = false
		if err := w.takeOver(ctx); err != nil || !w.synced {
			return err
		}
		if _, err := w.submit(ctx, bourse.CommandVoided, &bourse.WalletCommand{ID: id}); err != nil {
			return err
		}
	}
	return nil
}

var errRecord = errors.New("the signer's record is not the one that the journal knows")

// takeOver journals the entries of the signer's record that the journal does not have. As
// long as some are missing, nothing new is signed: their inputs and nonces are used.
func (w *Worker) takeOver(ctx context.Context) error {
	for !w.synced {
		state := w.Board.State(w.ID)
		chained, list, err := w.Signer.After(ctx, w.ID, state.Record)
		if err == nil && chained != state.Chain {
			err = errRecord
		}
		if err != nil {
			w.part(err)
			w.complain(w.ID, recordHeld, err.Error())
			return nil
		}

		w.apart = ""
		for i := range list {
			if s, err := w.take(ctx, &list[i].Signed, list[i].Kind, list[i].ID); s == nil || err != nil {
				return err
			}
		}
		delete(w.said, w.ID)
		w.synced = len(list) < signer.MaxRecorded
		if w.synced {
			w.mu.Lock()
			w.heard, w.awaits = true, false
			w.mu.Unlock()
		}
	}
	return nil
}

// recordFirst is the reason of a network that reads no blocks because of [Worker.unheard].
const recordFirst = "withdrawals are halted, and the signer has not told its record since the start: " +
	"no block is read before, because a payment that the journal does not know looks like a theft"

// unheard reports whether the network has to wait for the signer's record before it reads another block. After a
// restore or a promotion the journal can lack payments that are on the chain. The first block with one halts the
// network. The record makes it a payment as long as the block is remembered, so no block is read behind it, even if an
// operator ends the halt. Without a halt there is no such block, and a signer that is away keeps no deposit waiting.
func (w *Worker) unheard() bool {
	awaits := w.AwaitsRecord()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.awaits = awaits
	return awaits
}

// AwaitsRecord reports whether the network reads no blocks before the signer has told its record. A halt must not end
// before: after a restart nothing else would keep blocks from being read.
func (w *Worker) AwaitsRecord() bool {
	halted := w.Board.State(w.ID).Halted != 0
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.heard && (w.awaits || halted)
}

// part stops the network if the signer refuses this exchange altogether. After a restore or a promotion it
// signed what this journal does not know: a block with such a payment would be taken for a theft, and its
// withdrawal for unpaid. With other keys, what is paid to this exchange could not be spent. A signer that
// is away says nothing of the kind, and keeps no deposit waiting.
func (w *Worker) part(err error) {
	if errors.Is(err, signer.ErrAdopt) || errors.Is(err, signer.ErrKeys) || errors.Is(err, signer.ErrExchange) {
		w.apart = err.Error()
	}
}

// recordHeld is the subject of complaints about the signer's record.
const recordHeld = "the signer's record"

// take journals an entry of the signer's record. It returns nil if the entry cannot be decoded or the
// engine refuses it; the network then signs nothing more. synced is false until the journal has the entry.
func (w *Worker) take(
	ctx context.Context, signed *signer.Signed, kind bourse.SignedKind, id bourse.WalletID,
) (*bourse.SignedTx, error) {
	w.synced = false
	s, err := w.record(signed, kind, id)
	if err != nil {
		w.complain(w.ID, recordHeld, err.Error())
		return nil, nil
	}

	command := bourse.CommandRecord
	if len(s.Joined) > 0 {
		command = bourse.CommandRecordJoined
	}
	reason, err := w.submit(ctx, command,
		&bourse.WalletCommand{Signed: s, Record: signed.Record, Chain: signed.Chain})
	if err != nil {
		return nil, err
	}
	if reason != 0 {
		w.complain(w.ID, recordHeld, fmt.Sprintf("entry %d is refused: %s", signed.Record, reason))
		return nil, nil
	}
	w.synced = true
	return s, nil
}

// refused reports whether the signer's error says that nothing was signed.
func refused(err error) bool {
	for _, known := range [...]error{
		signer.ErrMismatch, signer.ErrAnother, signer.ErrLimit, signer.ErrRival, signer.ErrNonce,
		signer.ErrVoid, signer.ErrEpoch,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}
