package record

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
)

// late has, by name, commands that need version 2 of their bodies, and what each is without that.
func late() map[string]func(is bool) bourse.Command {
	memo := func(is bool) string {
		if is {
			return strings.Repeat("m", bourse.MaxMemo)
		}
		return strings.Repeat("m", bourse.MaxEarlyMemo)
	}
	block := func(in bourse.Inflow) bourse.Command {
		in.Asset, in.Amount, in.Owner, in.Address = 1, bourse.Units(5), 7, 7
		return bourse.Command{Kind: bourse.CommandBlock, Wallet: &bourse.WalletCommand{Block: &bourse.BlockEffect{
			Network: 1, BlockRef: bourse.BlockRef{Height: 1, Hash: bourse.TxHash{1}}, Txs: []bourse.TxEffect{
				{Hash: bourse.TxHash{2}, Inflows: []bourse.Inflow{{Index: 1, Asset: 1, Amount: bourse.Units(1)}, in}},
				{Hash: bourse.TxHash{3}, Inflows: []bourse.Inflow{{Asset: 1, Amount: bourse.Units(1)}}},
			},
		}}}
	}
	return map[string]func(bool) bourse.Command{
		"a marked inflow": func(is bool) bourse.Command { return block(bourse.Inflow{Index: 4, OverAlone: is}) },
		"a long memo of an inflow": func(is bool) bourse.Command {
			return block(bourse.Inflow{Index: 4, Memo: memo(is)})
		},
		"a long memo of a withdrawal": func(is bool) bourse.Command {
			return bourse.Command{Kind: bourse.CommandWithdraw, Account: 7, Wallet: &bourse.WalletCommand{Withdraw: &bourse.Withdraw{
				Network: 1, Asset: 1, Amount: bourse.Units(5), Address: "a", Memo: memo(is),
			}}}
		},
		"a long memo of a saved address": func(is bool) bourse.Command {
			return bourse.Command{Kind: bourse.CommandSaveAddress, Account: 7, Wallet: &bourse.WalletCommand{Save: &bourse.SavedAddress{
				Network: 1, Asset: 1, Address: "a", Memo: memo(is),
			}}}
		},
	}
}

// TestSecondVersions writes version 2 of a body if a command needs it alone, and then needs the rules that have it. A record
// of the other version than its command's is refused, so that a command has one record.
func TestSecondVersions(t *testing.T) {
	for what, of := range late() {
		for is, version := range map[bool]byte{false: 1, true: 2} {
			c := of(is)
			if err := Check(&c); err != nil {
				t.Fatalf("%s, %t: %v", what, is, err)
			}
			rules := uint32(0)
			if is {
				rules = bourse.RulesLongMemos
			}
			if kind, needs := Needs(&c); kind != c.Kind || needs != rules {
				t.Errorf("%s, %t: needs kind %d and rules %d", what, is, kind, needs)
			}

			b := Append(nil, &c)
			var got bourse.Command
			if n, err := Decode(b, &got); err != nil || n != len(b) || b[5] != version || !reflect.DeepEqual(got, c) {
				t.Errorf("%s, %t: version %d, %v: %+v", what, is, b[5], err, got)
			}
			for i := range b {
				if _, err := Decode(b[:i], &got); !errors.Is(err, ErrMalformed) {
					t.Errorf("%s, %t, cut to %d bytes: %v", what, is, i, err)
				}
			}

			other := bytes.Clone(b)
			other[5] = 3 - version
			if _, err := Decode(other, &got); !errors.Is(err, ErrMalformed) {
				t.Errorf("%s, %t, as version %d: %v", what, is, other[5], err)
			}
			other[5] = 3
			var newer *NewerError
			if _, err := Decode(other, &got); !errors.As(err, &newer) {
				t.Errorf("%s, %t, as version 3: %v", what, is, err)
			}
		}
	}

	c := late()["a long memo of a withdrawal"](true)
	c.Wallet.Withdraw.Memo += "m"
	if Check(&c) == nil {
		t.Error("a memo of 257 bytes passes")
	}
	c = late()["a marked inflow"](true)
	c.Wallet.Block.Txs[0].Inflows[1].Owner = bourse.AccountTreasury
	if Check(&c) == nil {
		t.Error("the exchange's own money is marked")
	}
}
