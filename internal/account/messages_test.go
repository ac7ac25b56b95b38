package account_test

import (
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// TestMessagesOfTransfers wants a message to be there for as long as its transfer
// may be, and no longer.
func TestMessagesOfTransfers(t *testing.T) {
	r := newRig(t)
	r.apply(&bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{Symbol: "BTC", Name: "Bitcoin", Scale: 8, Enabled: true}})
	for _, email := range []string{"alice@example.com", "bob@example.com"} {
		if _, err := r.Create(t.Context(), email); err != nil {
			t.Fatal(err)
		}
	}
	r.apply(&bourse.Command{Kind: bourse.CommandCredit, Account: 1, AssetID: 1, Amount: bourse.Units(10)})
	give := func(units uint64, key byte, message string) (bourse.Outcome, bourse.Token) {
		t.Helper()
		asked := &bourse.Withdraw{
			Asset: 1, Amount: bourse.Units(units), Internal: 2, Once: bourse.Once{Key: bourse.RequestHash{key}},
		}
		o, err := r.Transfer(t.Context(), &bourse.Command{
			Kind: bourse.CommandTransfer, Account: 1, Wallet: &bourse.WalletCommand{Withdraw: asked},
		}, message)
		if err != nil && r.breaks != unanswered {
			t.Log(err)
		}
		return o, asked.Message
	}
	says := func(token bourse.Token, want string) {
		t.Helper()
		if text, err := r.Message(t.Context(), token); err != nil || text != want {
			t.Errorf("the message is %q (%v), want %q", text, err, want)
		}
	}
	paid, first := give(4, 1, "for the rent, é")
	says(first, "for the rent, é")
	again, second := give(4, 1, "for the rent, é")
	if again.ID != paid.ID || !again.Repeated {
		t.Errorf("it came again as %+v", again)
	}
	says(second, "")
	if o, poor := give(400, 2, "too much"); o.Reason != bourse.InsufficientFunds {
		t.Errorf("refused with %s", o.Reason)
	} else {
		says(poor, "")
	}
	if _, none := give(1, 3, ""); none != (bourse.Token{}) {
		t.Error("no message has a token")
	}
	r.breaks = unanswered
	_, unknown := give(1, 4, "perhaps")
	says(unknown, "perhaps")
	r.stop()
	r.start()
	says(first, "for the rent, é")
}

func TestValidMessage(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "hello, wörld!": true, strings.Repeat("x", 255): true, strings.Repeat("x", 256): false,
		"a\nb": false, "a\x00": false, "a\xff": false,
	} {
		if account.ValidMessage(text) != want {
			t.Errorf("%q is valid: %t", text, !want)
		}
	}
}
