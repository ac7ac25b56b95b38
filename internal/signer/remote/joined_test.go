package remote_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/crc32"
	"reflect"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// TestJoined has a transaction of two withdrawals signed over a connection: the answer and the record have both, a part
// is answered with it, and a refusal names the withdrawal.
func TestJoined(t *testing.T) {
	r := newRig(t)
	c := r.client(r.of(1, 1))
	_, first := r.payment(btc, 1, 60)
	_, second := r.payment(btc, 2, 90)
	p := chain.Payment{
		Kind: first.Kind, Coin: first.Coin, Amount: first.Amount, To: first.To, CostCap: first.CostCap, Inputs: r.outputs(btc)[1:2],
		With: []chain.Pay{{To: second.To, Coin: second.Coin, Amount: second.Amount}},
	}
	u, err := r.clients[btc].Prepare(t.Context(), &p)
	if err != nil {
		t.Fatal(err)
	}
	both := first
	both.With = []signer.Part{{ID: 2, Amount: second.Amount, To: second.To}}

	both.With[0].Amount = bourse.Units(1e15)
	_, err = c.Sign(t.Context(), u, both)
	if !errors.Is(err, signer.ErrMismatch) {
		t.Errorf("another amount: %v", err)
	}
	both.With[0].Amount = second.Amount
	if err := c.Void(t.Context(), btc, 2); err != nil {
		t.Fatal(err)
	}
	part := new(signer.PartError)
	if _, err := c.Sign(t.Context(), u, both); !errors.As(err, &part) || part.ID != 2 || !errors.Is(err, signer.ErrVoid) {
		t.Errorf("an ended one: %v", err)
	}

	both.With[0].ID = 3
	signed, err := c.Sign(t.Context(), u, both)
	want := []signer.Share{{ID: 1, Amount: bourse.Units(60)}, {ID: 3, Amount: bourse.Units(90)}}
	if err != nil || !reflect.DeepEqual(signed.Shares, want) {
		t.Fatalf("%+v, %v", signed, err)
	}
	if _, err := c.Sign(t.Context(), u, both); !errors.Is(err, signer.ErrBehind) {
		t.Errorf("asked again: %v", err)
	}
	_, list, err := c.After(t.Context(), btc, 0)
	if err != nil || len(list) != 1 || !reflect.DeepEqual(list[0].Signed, signed) {
		t.Errorf("%+v, %v", list, err)
	}
	second.ID = 3
	if again, err := c.Sign(t.Context(), u, withPart(first, second)); err == nil {
		t.Errorf("bytes of another payment: %+v", again)
	}
}

// withPart expects a part of a joined transaction alone.
func withPart(first, part signer.Expect) signer.Expect {
	first.ID, first.Amount, first.To = part.ID, part.Amount, part.To
	return first
}

// TestJoinedRecordFitsFrames tells a record of a hundred joined transactions of a hundred withdrawals each, with bytes
// that alone fit a frame: the withdrawals count too.
func TestJoinedRecordFitsFrames(t *testing.T) {
	const count = 100
	r := newRig(t)
	r.end()
	var log bytes.Buffer
	id := 1_000_000_000
	for n := range count {
		first, parts := id+1, []byte{}
		for range bourse.MaxJoined {
			id++
			parts = fmt.Appendf(parts, `,{"id":%d,"amount":"12345678901","address":"there","purpose":"%064x"}`, id, id)
		}
		text := fmt.Sprintf(`{"network":%d,"id":%d,"attempt":0,"hash":"%064x","coin":"BTC","amount":"1","cost":"1","time":1,"raw":"%s","parts":[%s]}`,
			btc-10, first, n, base64.StdEncoding.EncodeToString(make([]byte, 5200)), parts[1:])
		fmt.Fprintf(&log, "%08x %s\n", crc32.Checksum([]byte(text), crc32.MakeTable(crc32.Castagnoli)), text)
	}
	f, err := r.disk.Edit("signed.log")
	if err == nil {
		_, err = f.WriteAt(log.Bytes(), 0)
	}
	if err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	r.open()
	r.listen()

	_, list, err := r.client(r.of(1, 1)).After(t.Context(), btc, 0)
	if err != nil || len(list) != count || len(list[count-1].Shares) != bourse.MaxJoined {
		t.Errorf("%d of them are told: %v", len(list), err)
	}
}
