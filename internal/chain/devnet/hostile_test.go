package devnet_test

import (
	"context"
	"encoding/hex"
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
)

// The words of test/hostile/testdata/chain.txt:
//
//	ask METHOD      what the client asks the node for
//	answer TEXT     what the node answers
//	edit FORM => TEXT
//	                the honest answer with what the regular expression finds first
//	                replaced
//	cut N           the honest answer without its last bytes
//	odd             the client must take it for an answer of a node that is not
//	                to be trusted, and go on
//	none            the client must take it for a block that is not there
//
// <<id>> is the request's; <<ff fe>> are bytes in hexadecimal, <<1000 * text>>
// repeats a text.

// answers is how many cases there are at least.
const answers = 60

// liar stands in front of a node and changes the answers to one method.
type liar struct {
	behind  devnet.Transport
	method  string
	change  func(answer string) string
	changed bool
}

var idForm = regexp.MustCompile(`"id":(\d+)`)

func (l *liar) Call(ctx context.Context, request []byte) ([]byte, error) {
	honest, err := l.behind.Call(ctx, request)
	if err != nil || !strings.Contains(string(request), `"method":"`+l.method+`"`) {
		return honest, err
	}
	text := strings.ReplaceAll(l.change(string(honest)), "<<id>>", idForm.FindStringSubmatch(string(request))[1])
	l.changed = l.changed || text != string(honest)
	return []byte(spelled(text)), nil
}

var angles = regexp.MustCompile(`<<(.*?)>>`)

// spelled replaces what stands between angles.
func spelled(text string) string {
	return angles.ReplaceAllStringFunc(text, func(s string) string {
		s = s[2 : len(s)-2]
		if times, what, ok := strings.Cut(s, " * "); ok {
			n, _ := strconv.Atoi(times)
			what, _ = strconv.Unquote(`"` + strings.ReplaceAll(what, `"`, `\"`) + `"`)
			return strings.Repeat(what, n)
		}
		b, _ := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
		return string(b)
	})
}

// stall is a node with a client, and a payment that was mined.
type stall struct {
	node   *devnet.Node
	client *devnet.Client
	liar   *liar
	mined  []byte
	fresh  chain.Payment
	keys   *devnet.Keys
}

func newStall(t *testing.T) *stall {
	now, p := bourse.Time(1e15), devnet.Lookup("ETH")
	s := &stall{keys: devnet.NewKeys(p, seed)}
	s.node = open(t, memdisk.New(1), options(p, at(&now)), "ETH")
	s.liar = &liar{behind: s.node}
	s.client = devnet.NewClient(p, s.keys.Public(), s.liar, devnet.ClientOptions{})
	if _, err := s.node.Send(chain.Pay{To: s.client.Destination(1), Coin: "ETH", Amount: bourse.Units(1e9)}); err != nil {
		t.Fatal(err)
	}
	to, err := s.node.NewAddress()
	if err != nil {
		t.Fatal(err)
	}
	s.fresh = chain.Payment{
		Kind: bourse.SignedWithdrawal, Coin: "ETH", Amount: bourse.Units(1e9), To: chain.Destination{Address: to},
		From: chain.IndexHot, CostCap: bourse.Units(1e18),
	}
	s.mined = s.signed(t)
	if v, err := s.client.Broadcast(t.Context(), s.mined); err != nil || v.Kind != chain.Accepted {
		t.Fatal(v, err)
	}
	if _, err := s.node.Mine(2); err != nil {
		t.Fatal(err)
	}
	s.fresh.Nonce++
	return s
}

// signed returns the next payment, signed.
func (s *stall) signed(t *testing.T) []byte {
	t.Helper()
	unsigned, err := s.client.Prepare(t.Context(), &s.fresh)
	if err != nil {
		t.Fatal(err)
	}
	raw, _, err := s.keys.Sign(unsigned.Raw)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// ask puts the question that needs a method.
func (s *stall) ask(t *testing.T, method string, raw []byte) (err error) {
	t.Helper()
	ctx := t.Context()
	switch method {
	case devnet.MethodHead:
		_, err = s.client.Health(ctx)
	case devnet.MethodBlock:
		_, err = s.client.Block(ctx, 1)
	case devnet.MethodBalance:
		_, err = s.client.Balance(ctx, s.client.Destination(1).Address, "ETH")
	case devnet.MethodNonce:
		_, err = s.client.Nonce(ctx, chain.IndexHot)
	case devnet.MethodRate:
		_, err = s.client.Fees(ctx, "ETH")
	case devnet.MethodEstimate:
		_, err = s.client.Prepare(ctx, &s.fresh)
	case devnet.MethodTransaction:
		_, err = s.client.State(ctx, s.mined)
	case devnet.MethodBroadcast:
		_, err = s.client.Broadcast(ctx, raw)
	default:
		t.Fatalf("nothing asks for %s", method)
	}
	return err
}

// TestHostileAnswers reads what nodes may answer. The client says what it thinks
// of it, and believes the next honest answer.
func TestHostileAnswers(t *testing.T) {
	text, err := os.ReadFile("../../../test/hostile/testdata/chain.txt")
	if err != nil {
		t.Fatal(err)
	}
	cases := strings.Split("\n"+string(text), "\ncase ")[1:]
	if len(cases) < answers {
		t.Errorf("%d cases, wanted are %d", len(cases), answers)
	}
	s := newStall(t)
	raw := s.signed(t)
	for _, c := range cases {
		name, lines, _ := strings.Cut(c, "\n")
		t.Run(strings.ReplaceAll(name, "/", "|"), func(t *testing.T) { s.hear(t, lines, raw) })
	}
}

// hear carries out a case.
func (s *stall) hear(t *testing.T, lines string, raw []byte) {
	var want error
	for line := range strings.Lines(lines) {
		word, text, _ := strings.Cut(strings.Trim(line, " \n"), " ")
		switch word {
		case "":
		case "ask":
			s.liar.method = text
		case "answer":
			s.liar.change = func(string) string { return text }
		case "cut":
			n, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}
			s.liar.change = func(honest string) string { return honest[:len(honest)-n] }
		case "edit":
			form, with, _ := strings.Cut(text+" ", " => ")
			form, with = strings.TrimSuffix(form, " "), strings.TrimSuffix(with, " ")
			find := regexp.MustCompile(form)
			s.liar.change = func(honest string) string {
				at := find.FindStringSubmatchIndex(honest)
				if at == nil {
					t.Fatalf("%s is nowhere in %.300s", form, honest)
				}
				return honest[:at[0]] + string(find.ExpandString(nil, with, honest, at)) + honest[at[1]:]
			}
		case "odd":
			want = chain.ErrOdd
		case "none":
			want = chain.ErrNoBlock
		default:
			t.Fatalf("no such word: %s", line)
		}
	}
	method := s.liar.method
	s.liar.changed = false
	err := s.ask(t, method, raw)
	if want == nil || !errors.Is(err, want) || errors.Is(err, chain.ErrSilent) {
		t.Errorf("the client says %v", err)
	}
	if !s.liar.changed {
		t.Error("nothing was changed")
	}
	s.liar.method = "nothing"
	if err := s.ask(t, method, raw); err != nil {
		t.Errorf("an honest answer behind it: %v", err)
	}
}
