package engine_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
)

func recordCommand(number uint64, s *bourse.SignedTx) bourse.Command {
	kind := bourse.CommandRecord
	if len(s.Joined) > 0 {
		kind = bourse.CommandRecordJoined
	}
	return walletCommand(kind, 0, bourse.WalletCommand{
		Signed: s, Record: number, Chain: bourse.TxHash{byte(number), byte(number >> 8), 1},
	})
}

func askingCommand(id bourse.WalletID) bourse.Command {
	return walletCommand(bourse.CommandAsking, 0, bourse.WalletCommand{ID: id})
}

func voidedCommand(id bourse.WalletID) bourse.Command {
	return walletCommand(bourse.CommandVoided, 0, bourse.WalletCommand{ID: id})
}

// TestUnknownSignatures halts a network whose signer signed for a withdrawal that was never made, that is over, or for
// which nobody asked, and by an id of something else. Under older rules only those of ids that were never allotted
// halt.
func TestUnknownSignatures(t *testing.T) {
	for name, made := range map[string]func(x *exchange) bourse.WalletID{
		"never made": func(*exchange) bourse.WalletID { return 99 },
		"never asked": func(x *exchange) bourse.WalletID {
			return bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(btc, 100, 4))))
		},
		"over": func(x *exchange) bourse.WalletID {
			id := x.must(withdrawCommand(1, withdrawOf(btc, 100, 4)))
			x.must(cancelCommand(1, id))
			return bourse.WalletID(id)
		},
		"an order to cold storage": func(x *exchange) bourse.WalletID {
			id := x.must(coolCommand(byOutput, btc, 5))
			x.must(endCoolCommand(byOutput))
			return bourse.WalletID(id)
		},
		"a deposit": func(*exchange) bourse.WalletID { return 1 },
		"": func(x *exchange) bourse.WalletID {
			x.must(bourse.Command{Kind: bourse.CommandSetRules, Rules: bourse.RulesRecorded - 1})
			id := x.must(withdrawCommand(1, withdrawOf(btc, 100, 4)))
			x.must(cancelCommand(1, id))
			return bourse.WalletID(id)
		},
	} {
		t.Run(name, func(t *testing.T) {
			x, c, _ := funded(t, true)
			id := made(x)
			_, s := x.signOutputs(c, id, 100, 2)
			x.refused(bourse.RecordOutOfOrder, recordCommand(2, s))
			x.must(recordCommand(1, s))
			x.restart()
			n := x.e.NetworkState(s.Network)
			if (n.Halted == bourse.HaltUnknownSigned) != (name != "") || n.Record != 1 {
				t.Fatalf("%+v", n)
			}
			x.refused(bourse.NotSigned, sentCommand(s.Network, s.Tx))
			x.refused(bourse.RecordOutOfOrder, recordCommand(1, s))
			if next := x.must(withdrawCommand(1, withdrawOf(btc, 100, 4))); next <= uint64(id) {
				t.Errorf("%d is allotted again, as %d", id, next)
			}
		})
	}
}

// TestReleasedAtTheSigner releases a withdrawal that is done, whose transaction was
// dropped and whose next one the signer is asked for: its money is back when the signer
// has said never, and stays away if it had signed.
func TestReleasedAtTheSigner(t *testing.T) {
	for name, signed := range map[string]bool{"never": false, "signed": true} {
		t.Run(name, func(t *testing.T) {
			x, c, _ := funded(t, true)
			id := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(btc, 100, 4))))
			x.must(askingCommand(id))
			_, s := x.signOutputs(c, id, 100, 2)
			x.must(recordCommand(1, s))
			x.must(sentCommand(s.Network, s.Tx))
			x.must(walletCommand(bourse.CommandReplaceWithdrawal, 0, bourse.WalletCommand{ID: id}))
			x.must(askingCommand(id))
			release := walletCommand(bourse.CommandReleaseWithdrawal, 0, bourse.WalletCommand{ID: id})
			x.must(release)
			x.refused(bourse.WithdrawalNotFound, release)
			x.refused(bourse.NotProcessing, askingCommand(id))
			x.wantBalance(1, btc, 896, 0)
			x.restart()

			if signed {
				_, next := x.signOutputs(c, id, 100, 3)
				x.must(recordCommand(2, next))
				x.refused(bourse.NotProcessing, voidedCommand(id))
				x.wantBalance(1, btc, 896, 0)
				x.must(sentCommand(next.Network, next.Tx))
				return
			}
			x.must(voidedCommand(id))
			x.wantBalance(1, btc, 1000, 0)
			x.refused(bourse.NotProcessing, voidedCommand(id))
		})
	}
}

// TestUnknownSignatureIsPaid mines what the signer signed for a withdrawal that nobody has
// approved in this journal, which was restored from a backup: it is paid.
func TestUnknownSignatureIsPaid(t *testing.T) {
	x, c, _ := funded(t, false)
	id := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(btc, 100, 4))))
	tx, s := x.signOutputs(c, id, 100, 2)
	x.must(recordCommand(1, s))
	if w := x.e.Withdrawal(id); w.Status != bourse.WalletPending || w.Signed {
		t.Fatalf("%+v", w)
	}
	x.must(c.next(tx))
	x.restart()
	if w := x.e.Withdrawal(id); w.Status != bourse.WalletDone || w.Tx != tx.Hash {
		t.Fatalf("%+v", w)
	}
	x.wantBalance(1, btc, 896, 0)
}

// TestMinedBeforeItIsTold takes in a block with what the signer signed before its record tells of it, as after a
// promotion while the signer is away: it is a theft, until it is a payment. Its nonce is used.
func TestMinedBeforeItIsTold(t *testing.T) {
	for name, asked := range map[string]bool{"asked": true, "not asked": false} {
		t.Run(name, func(t *testing.T) {
			x, c, a := funded(t, true)
			for _, of := range []struct {
				*chain
				asset bourse.AssetID
				left  uint64
			}{{c, btc, 896}, {a, eth, 396}} {
				id := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(of.asset, 100, 4))))
				if asked {
					x.must(askingCommand(id))
				}
				tx, s := signAccount(a, id, 0, takes(hot, eth, 102))
				if of.chain == c {
					tx, s = x.signOutputs(c, id, 100, 2)
				}
				block := of.next(tx)
				x.must(block)
				x.wantOwn(of.asset, map[bourse.AccountID]int64{treasury: 898, bourse.AccountInTransit: 0, bourse.AccountNetworkCosts: 0})
				x.must(recordCommand(1, s))
				x.restart()
				paid := func() {
					t.Helper()
					if w := x.e.Withdrawal(id); w.Status != bourse.WalletDone || w.Tx != tx.Hash || w.AtSigner {
						t.Fatalf("%+v", w)
					}
					x.wantBalance(1, of.asset, of.left, 0)
					x.wantOwn(of.asset, map[bourse.AccountID]int64{treasury: 1000, bourse.AccountInTransit: 0, bourse.AccountNetworkCosts: -2})
				}
				paid()
				x.refused(bourse.AlreadyMined, walletCommand(bourse.CommandReleaseWithdrawal, 0, bourse.WalletCommand{ID: id}))
				rewind, _ := of.back(1)
				x.must(rewind)
				x.wantOwn(of.asset, map[bourse.AccountID]int64{treasury: 1000, bourse.AccountInTransit: 100, bourse.AccountNetworkCosts: 0})
				x.must(of.next(tx))
				paid()
				x.must(walletCommand(bourse.CommandPauseWithdrawals, 0, bourse.WalletCommand{Network: s.Network}))
			}

			_, again := signAccount(a, 0, 0)
			x.refused(bourse.WrongNonce, signedCommand(again))
			_, next := signAccount(a, 0, 1)
			x.must(signedCommand(next))
		})
	}
}

// TestFarFirstNonce takes over a sweep that a stolen exchange had signed far ahead, from an address that never sent:
// it is not sent, and the address begins at zero.
func TestFarFirstNonce(t *testing.T) {
	x, _, a := funded(t, true)
	_, far := signAccount(a, 0, 1_000_000)
	far.From = 1
	x.must(recordCommand(1, far))
	x.refused(bourse.NotSigned, sentCommand(byAccount, far.Tx))
	x.restart()
	_, first := signAccount(a, 0, 0)
	first.From = 1
	x.must(recordCommand(2, first))
	x.must(sentCommand(byAccount, first.Tx))
}
