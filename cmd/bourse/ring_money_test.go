package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/bourse-exchange/bourse/client"
	"github.com/bourse-exchange/bourse/internal/api/admin"
)

// turn is a change of a purse, or a look at it.
type turn uint8

const (
	// askTurn holds a withdrawal's money, payTurn takes it, freeTurn gives it back after a cancel.
	askTurn turn = iota + 1
	payTurn
	freeTurn
	// creditTurn adds a deposit. lookTurn reads the balance.
	creditTurn
	lookTurn
)

var turns = [...]string{askTurn: "ask", payTurn: "pay", freeTurn: "free", creditTurn: "credit", lookTurn: "look"}

// purse is a balance of one asset in units of 10⁻⁹, with the numbers of the withdrawals whose money is held.
type purse struct {
	total, locked uint64
	held          string
}

// moved is a turn with a withdrawal's or deposit's number and amount. A look has the balance in its answer.
type moved struct {
	turn   turn
	number uint64
	amount uint64
}

// step reports whether a turn is possible, and returns the purse behind it.
func (p purse) step(in moved, out purse) (bool, purse) {
	name := fmt.Sprintf(" %d ", in.number)
	switch in.turn {
	case askTurn:
		return !strings.Contains(p.held, name), purse{p.total, p.locked + in.amount, p.held + name}
	case payTurn:
		return strings.Contains(p.held, name), purse{p.total - in.amount, p.locked - in.amount, strings.Replace(p.held, name, "", 1)}
	case freeTurn:
		return strings.Contains(p.held, name), purse{p.total, p.locked - in.amount, strings.Replace(p.held, name, "", 1)}
	case creditTurn:
		return true, purse{p.total + in.amount, p.locked, p.held}
	default: // lookTurn
		return out.total == p.total && out.locked == p.locked, p
	}
}

// purseFrom is the model of histories that begin with a purse.
func purseFrom(first purse) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return first },
		Step: func(state, in, out any) (bool, any) { return state.(purse).step(in.(moved), out.(purse)) },
		DescribeOperation: func(in, out any) string {
			return fmt.Sprintf("%s %+v: %+v", turns[in.(moved).turn], in, out)
		},
		DescribeState: func(state any) string { return fmt.Sprintf("%+v", state) },
	}
}

// TestPurseModel checks that the model rejects impossible histories.
func TestPurseModel(t *testing.T) {
	ask, pay, free, credit := moved{askTurn, 1, 5}, moved{payTurn, 1, 5}, moved{freeTurn, 1, 5}, moved{creditTurn, 2, 3}
	for _, c := range []struct {
		why   string
		turns []moved
		left  purse
		ok    bool
	}{
		{"it is held", []moved{ask}, purse{total: 10, locked: 5}, true},
		{"it is paid", []moved{ask, pay}, purse{total: 5}, true},
		{"it is free again", []moved{ask, free}, purse{total: 10}, true},
		{"a deposit is credited", []moved{credit}, purse{total: 13}, true},
		{"a deposit is credited twice", []moved{credit}, purse{total: 16}, false},
		{"it is paid twice", []moved{ask, pay, pay}, purse{}, false},
		{"it is paid and free", []moved{ask, pay, free}, purse{total: 5}, false},
		{"it is held and gone", []moved{ask}, purse{total: 5, locked: 5}, false},
	} {
		var history []porcupine.Operation
		for i, in := range append(c.turns, moved{turn: lookTurn}) {
			history = append(history, porcupine.Operation{Input: in, Output: c.left, Call: int64(2 * i), Return: int64(2*i + 1)})
		}
		if got := porcupine.CheckOperations(purseFrom(purse{total: 10}), history); got != c.ok {
			t.Errorf("%s: %v", c.why, got)
		}
	}
}

// mostMoves bounds the deposits, and the withdrawals, of a saver that are on their way.
const mostMoves = 4

// saverRoutes are the routes of a ring's savers.
var saverRoutes = []route{routes[0], routes[3], routes[4]}

// movement is a deposit or a withdrawal.
type movement struct {
	moved

	from time.Duration
	// xid is the id, once it is known; address is where a withdrawal goes to, paid what arrives there.
	xid     uint64
	address string
	paid    string
	// sure is true for a deposit that was sent for sure; sent for a withdrawal that could not be canceled any more.
	sure, sent bool
	// status is the last status; ended is true once that is final.
	status string
	ended  bool
}

// saver is a customer who deposits and withdraws one asset over one network while faults happen to the nodes.
type saver struct {
	*roamer
	route

	r     *ring
	rng   *rand.Rand
	fee   client.Decimal
	began time.Time
	// number is that of the last move: it makes a deposit's amount unlike those of others.
	number uint64
	// moves are those of the round by name: a deposit's amount, a withdrawal's id.
	moves map[string]*movement
	// floor is the highest id of the rounds before.
	floor   uint64
	start   purse
	history []porcupine.Operation
	// credited, paid and canceled count the moves of all rounds.
	credited, paid, canceled int
	problem                  error
}

// newSaver opens an account with money.
func newSaver(r *ring, number int) *saver {
	r.t.Helper()
	s := &saver{
		r: r, route: saverRoutes[number], rng: rand.New(rand.NewPCG(r.rng.Uint64(), 2)), began: time.Now(), moves: map[string]*movement{},
	}
	operator := r.operator()
	account := fmt.Sprint(operate[struct{ Account int }](operator, "account", "create", fmt.Sprintf("saver%d@example.org", number)).Account)
	key := operate[struct {
		Secret string `json:"api_key"`
	}](operator, "key", "create", account, "--name", "test", "--scopes", "read,withdraw").Secret
	operate[any](operator, "credit", account, s.asset, wealth()[s.asset])
	s.roamer = r.roamer(key, number)
	s.start.total = nano(wealth()[s.asset])
	must(r.t, s.ask(r.t.Context(), func(ctx context.Context, api *client.Client) error {
		terms, err := api.WithdrawTerms(ctx, s.asset, s.network)
		s.fee = terms.MinFee
		return err
	}))
	return s
}

// nano returns an amount in units of 10⁻⁹.
func nano(text string) uint64 {
	n := new(big.Rat).Mul(number(text), new(big.Rat).SetInt64(1e9))
	if !n.IsInt() {
		panic(text + " is no multiple of 10⁻⁹")
	}
	return n.Num().Uint64()
}

// work deposits, withdraws, cancels and makes blocks until stop is closed.
func (s *saver) work(stop <-chan struct{}) {
	for s.problem == nil {
		select {
		case <-stop:
			return
		default:
		}
		s.problem = [...]func() error{s.deposit, s.withdraw, s.withdraw, s.cancel, s.mine, s.look, s.read}[s.rng.IntN(7)]()
	}
}

// open returns the moves that are on their way, by name.
func (s *saver) open(which turn) (list []*movement) {
	for _, name := range slices.Sorted(maps.Keys(s.moves)) {
		if m := s.moves[name]; m.turn == which && !m.ended && (m.sure || m.status != "" || which == askTurn) {
			list = append(list, m)
		}
	}
	return list
}

// verb asks the node that answered last for a verb of operators.
func (s *saver) verb(verb string, args map[string]any) (a struct{ Address, Balance string }, err error) {
	ctx, cancel := context.WithTimeout(s.r.t.Context(), attemptWithin)
	defer cancel()
	answer, err := admin.Call(ctx, s.r.nodes[s.at].dir, verb, args)
	if err == nil {
		err = json.Unmarshal(answer, &a)
	}
	return a, err
}

// insist asks the nodes in turn until one has carried a verb out. The verb may be carried out several times.
func (s *saver) insist(verb string, args map[string]any) (a struct{ Address, Balance string }, err error) {
	for end := time.Now().Add(patience); ; s.at = (s.at + 1) % len(s.nodes) {
		if a, err = s.verb(verb, args); err == nil || time.Now().After(end) {
			return a, err
		}
	}
}

// deposit sends coins to the saver's address once. Nobody knows of a send without an answer whether it was carried out.
func (s *saver) deposit() error {
	if len(s.open(creditTurn)) >= mostMoves {
		return s.mine()
	}
	ctx, cancel := context.WithTimeout(s.r.t.Context(), patience)
	defer cancel()
	var to client.DepositAddress
	err := s.ask(ctx, func(ctx context.Context, api *client.Client) (err error) {
		to, err = api.DepositAddress(ctx, s.asset, s.network)
		return err
	})
	if err != nil {
		return fmt.Errorf("an address for deposits of %s: %w", s.asset, err)
	}

	s.number++
	amount := nano(s.route.deposit) + s.number*1000
	text := fmt.Sprintf("%d.%06d", amount/1e9, amount%1e9/1000)
	m := &movement{moved: moved{creditTurn, s.number, amount}, from: time.Since(s.began)}
	s.moves[text] = m
	_, err = s.verb("devnet/send", map[string]any{
		"network": s.network, "address": to.Address, "asset": s.asset, "amount": text, "memo": to.Memo,
	})
	m.sure = err == nil
	return nil
}

// withdraw asks for a withdrawal to an address of its own until it is answered.
func (s *saver) withdraw() error {
	if len(s.open(askTurn)) >= mostMoves {
		return s.mine()
	}
	to, err := s.insist("devnet/address", map[string]any{"network": s.network})
	if err != nil {
		return err
	}

	s.number++
	w := &client.NewWithdrawal{
		Asset: s.asset, Network: s.network, Address: to.Address, Amount: client.Decimal(s.withdrawal), Fee: s.fee,
		ClientID: fmt.Sprintf("w%d", s.number),
	}
	m := &movement{
		moved: moved{askTurn, s.number, nano(s.withdrawal) + nano(string(s.fee))}, from: time.Since(s.began),
		address: to.Address, paid: s.withdrawal,
	}
	ctx, cancel := context.WithTimeout(s.r.t.Context(), patience)
	defer cancel()
	err = s.ask(ctx, func(ctx context.Context, api *client.Client) (err error) {
		m.xid, err = api.Withdraw(ctx, w)
		return err
	})
	if err != nil {
		return fmt.Errorf("a withdrawal of %s: %w", s.asset, err)
	}
	s.moves[fmt.Sprint(m.xid)] = m
	s.note(m.moved, purse{}, m.from)
	return nil
}

// cancel cancels a withdrawal that is on its way, if it is not too late.
func (s *saver) cancel() error {
	list := s.open(askTurn)
	if len(list) == 0 {
		return nil
	}
	m := list[s.rng.IntN(len(list))]
	ctx, cancel := context.WithTimeout(s.r.t.Context(), patience)
	defer cancel()
	err := s.ask(ctx, func(ctx context.Context, api *client.Client) error { return api.CancelWithdrawal(ctx, m.xid) })
	switch {
	case errors.Is(err, client.ErrAlreadySent):
		m.sent = true
	case ctx.Err() != nil:
		return fmt.Errorf("a cancel of %d: %w", m.xid, err)
	}
	return nil // the list says what became of it
}

// mine makes a block, more than one if an answer is lost.
func (s *saver) mine() error {
	_, err := s.insist("devnet/mine", map[string]any{"network": s.network, "blocks": 1})
	return err
}

// final are the statuses that do not change any more, with what they are of a withdrawal.
var final = map[string]turn{"DONE": payTurn, "CANCELED": freeTurn}

// look reads the list, and notes what has ended since.
func (s *saver) look() error {
	rows, err := s.rows()
	if err != nil {
		return err
	}
	for _, row := range rows {
		name := fmt.Sprint(row.ID)
		if row.Type == "DEPOSIT" {
			name = string(row.Amount)
		}
		m := s.moves[name]
		if m == nil {
			return fmt.Errorf("nobody asked for %+v", row)
		}
		end, ends := final[row.Status]
		if m.status, m.xid = row.Status, row.ID; m.ended || !ends {
			continue
		}
		m.ended = true
		in := m.moved
		if row.Type != "DEPOSIT" {
			in.turn = end
		}
		s.note(in, purse{}, m.from)
	}
	return nil
}

// rows lists the transactions of the round. Each deposit is in it once.
func (s *saver) rows() (rows []client.Transaction, err error) {
	ctx, cancel := context.WithTimeout(s.r.t.Context(), patience)
	defer cancel()
	err = s.ask(ctx, func(ctx context.Context, api *client.Client) error {
		rows = rows[:0]
		for row, err := range api.Transactions(ctx, client.Movements{}) {
			if err != nil {
				return err
			}
			if row.ID <= s.floor {
				break
			}
			row.Amount = client.Decimal(trimmed(string(row.Amount)))
			rows = append(rows, row)
		}
		return nil
	})
	seen := map[client.Decimal]bool{}
	for _, row := range rows {
		if row.Type == "DEPOSIT" && seen[row.Amount] {
			return nil, fmt.Errorf("a deposit was credited twice: %+v", row)
		}
		seen[row.Amount] = seen[row.Amount] || row.Type == "DEPOSIT"
	}
	return rows, err
}

// trimmed returns an amount with six decimals.
func trimmed(text string) string { return number(text).FloatString(6) }

// read reads the balance.
func (s *saver) read() error {
	ctx, cancel := context.WithTimeout(s.r.t.Context(), patience)
	defer cancel()
	from, out := time.Since(s.began), purse{}
	err := s.ask(ctx, func(ctx context.Context, api *client.Client) error {
		for b, err := range api.Balances(ctx) {
			if err != nil {
				return err
			}
			if b.Asset == s.asset {
				out = purse{total: nano(string(b.Total)), locked: nano(string(b.Locked))}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("the balance of %s: %w", s.asset, err)
	}
	s.note(moved{turn: lookTurn}, out, from)
	return nil
}

// note adds a turn to the history that began at a time and has ended now.
func (s *saver) note(in moved, out purse, from time.Duration) {
	s.history = append(s.history, porcupine.Operation{Input: in, Output: out, Call: int64(from), Return: int64(time.Since(s.began))})
}

// rest makes blocks until nothing is on its way, and reads the balance.
func (s *saver) rest() error {
	for end := time.Now().Add(patience); ; {
		if err := errors.Join(s.mine(), s.look()); err != nil {
			return err
		}
		open := append(s.open(askTurn), s.open(creditTurn)...)
		if len(open) == 0 {
			return errors.Join(s.mine(), s.read()) // a payment that is done may still wait for its block
		}
		if time.Now().After(end) {
			return fmt.Errorf("never comes to rest: %+v", open)
		}
	}
}

// decide comes to rest, and compares what was acknowledged with the list, the chain and the balance, which must have been
// possible at each time.
func (s *saver) decide(t *testing.T) {
	t.Helper()
	if err := errors.Join(s.problem, s.rest()); err != nil {
		t.Errorf("%s on %s: %v", s.asset, s.network, err)
		return
	}
	result, info := porcupine.CheckOperationsVerbose(purseFrom(s.start), s.history, decideWithin)
	if result != porcupine.Ok {
		file := filepath.Join(t.ArtifactDir(), "purse.html")
		t.Errorf("the balance of %s makes no sense in any order (%s); see %s %v",
			s.asset, result, file, porcupine.VisualizePath(purseFrom(s.start), info, file))
		t.Logf("the round began with %+v", s.start)
		for _, o := range s.history {
			t.Logf("%d to %d µs: %s", o.Call/1000, o.Return/1000, purseFrom(s.start).DescribeOperation(o.Input, o.Output))
		}
	}

	for name, m := range s.moves {
		if !m.ended {
			continue // a deposit that was never sent, or shows later
		}
		if m.turn == creditTurn {
			s.credited++
		} else {
			s.arrived(t, m)
		}
		delete(s.moves, name)
		s.floor = max(s.floor, m.xid)
	}
	s.start = s.history[len(s.history)-1].Output.(purse)
	s.history = s.history[:0]
}

// arrived wants a withdrawal that is done to be paid once, and one that was canceled not at all.
func (s *saver) arrived(t *testing.T, m *movement) {
	t.Helper()
	want := m.paid
	if s.paid++; m.status == "CANCELED" {
		want = "0"
		s.paid--
		s.canceled++
	}
	a, err := s.insist("devnet/balance", map[string]any{"network": s.network, "address": m.address, "asset": s.asset})
	if err != nil || number(a.Balance).Cmp(number(want)) != 0 || m.sent && m.status == "CANCELED" {
		t.Errorf("withdrawal %+v: %s arrived: %v", *m, a.Balance, err)
	}
}
