package sim

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

// wallets are the networks of a world, the signer's record, and customers who deposit and
// withdraw.
type wallets struct {
	world    *world
	chance   *chance
	networks []*network
	// vault is the signer's disk.
	vault *memdisk.Disk
	// busy is true while a worker makes a step, which waits for its commands while
	// everything else continues.
	busy bool
	// calm is true once there are no more faults.
	calm bool
	// rivals are the withdrawals for which the signer can sign nothing more, because an
	// earlier transaction cannot be excluded.
	rivals map[bourse.WalletID]bool
	// ended are the moves to and from cold storage and the joined transactions that were given up.
	ended map[bourse.TxHash]bool
	// joined are the joined ones of them.
	joined []bourse.SignedTx
	// names counts the named requests of customers.
	names uint64
}

// ended is the panic that unwinds a wallet whose process has ended.
type ended struct{}

func newWallets(w *world) *wallets {
	x := &wallets{world: w, chance: newChance(w.Seed, 3), vault: memdisk.New(w.Seed + 1), rivals: map[bourse.WalletID]bool{},
		ended: map[bourse.TxHash]bool{}}
	symbols := []bourse.Symbol{"BTC", "ETH", "ATOM", "TEST"}
	outputs, rewrites, alone := newChance(w.Seed, 6), newChance(w.Seed, 7), newChance(w.Seed, 8)
	for id := bourse.NetworkID(1); id <= bourse.NetworkID(w.shape.networks); id++ {
		at := x.chance.Below(uint64(len(symbols)))
		n := newNetwork(w, id, symbols[at])
		n.deep = x.chance.oneIn(5)
		n.stuck = pick[uint64](x.chance, 0, 1, 1, 2)
		n.outputs = pick(outputs, 0, 2, 60, 80) // a fresh network has up to 50
		if rewrites.oneIn(20) {
			n.rewriting.phase = toGrow
		}
		n.alone = pick[uint64](alone, 0, 0, 1, 100)
		x.networks = append(x.networks, n)
		symbols = append(symbols[:at], symbols[at+1:]...)
	}
	return x
}

// act makes a step of a wallet, a network, or a customer.
func (x *wallets) act() {
	if x.busy || len(x.networks) == 0 || !x.world.clients.founded ||
		!x.calm && !x.chance.oneIn(x.world.shape.pace) || !x.found() {
		return
	}
	n := x.networks[x.chance.Below(uint64(len(x.networks)))]
	if n.silentUntil != 0 && x.world.steps >= n.silentUntil {
		n.recover()
	}
	switch at := x.chance.Below(8); {
	case x.calm:
		x.goOn(n)
	case at == 0:
		n.act()
	case at <= 2:
		x.customer(n)
	default:
		x.step(n)
	}
}

// step makes a step of a network's worker, unless the process ends in it.
func (x *wallets) step(n *network) {
	x.busy = true
	defer func() {
		x.busy = false
		if r := recover(); r != nil && r != any(ended{}) {
			panic(r)
		}
	}()
	_, err := x.world.process.worker(n).Step(x.world.ctx)
	if !errors.Is(err, sequencer.ErrNoRoom) { // the worker tries again
		want(err, "a wallet")
	}
}

// mayEnd ends the process between two steps of a wallet, sometimes.
func (x *wallets) mayEnd() {
	w := x.world
	if !w.chance.oneIn(w.shape.walletEnd) {
		return
	}
	w.count(EndedInWallet)
	w.die(pick(w.chance, Killed, PowerCut))
	panic(ended{})
}

// submit submits a command of a wallet, while everything else continues.
func (x *wallets) submit(_ context.Context, cmd *bourse.Command) (bourse.Outcome, error) {
	x.mayEnd()

	w := x.world
	life := w.process
	ticket := sequencer.NewTicket()
	own := *cmd

	for {
		err := life.sequencer.Submit(&own, ticket)
		if err == nil {
			break
		}
		if !errors.Is(err, bourse.ErrBusy) {
			fail("%+v of a wallet was refused: %w", own.Wallet, err)
		}
		x.wait(life)
	}

	for {
		select {
		case <-ticket.Done():
			if w.withoutRoom(ticket.Err) {
				return ticket.Outcome, ticket.Err
			}
			x.checkAnswer(&ticket.Result)
			if ticket.Outcome.Reason == 0 {
				x.countDone(&own)
			}
			x.mayEnd()
			return ticket.Outcome, ticket.Err
		default:
			x.wait(life)
		}
	}
}

// countDone counts what a command of a wallet did.
func (x *wallets) countDone(cmd *bourse.Command) {
	w := x.world
	signed := cmd.Wallet.Signed
	switch {
	case cmd.Kind == bourse.CommandReplaceWithdrawal:
		w.count(WithdrawalOutbid)
	case cmd.Kind == bourse.CommandReleaseWithdrawal:
		w.count(MoveOutbid)
	case cmd.Kind == bourse.CommandRecordJoined:
		w.count(Joined)
		x.countChange(signed)
	case cmd.Kind == bourse.CommandRecord && signed.Kind == bourse.SignedCool:
		w.count(Cooled)
	case cmd.Kind == bourse.CommandRecord && signed.Kind == bourse.SignedWithdrawal:
		x.countChange(signed)
	}
}

// noteJoined counts joined transactions that were given up, those in their place, and those that blocks have all the
// same.
func (w *world) noteJoined(ev *bourse.Events) {
	x := w.wallets
	for i := range ev.Wallet.Signed {
		s := &ev.Wallet.Signed[i]
		joined := len(s.Joined) > 0
		switch {
		case joined && s.State == bourse.SignedDropped && !x.ended[s.Tx]:
			x.ended[s.Tx] = true
			x.joined = append(x.joined, *s)
			w.count(JoinedGivenUp)
		case joined && s.State == bourse.SignedMined && x.ended[s.Tx]:
			w.count(GivenUpJoinedMined)
		case s.State == bourse.SignedWaiting && slices.ContainsFunc(x.joined, func(old bourse.SignedTx) bool { return old.Shares(s) }):
			w.count(JoinedReplaced)
		}
	}
}

// countChange counts a payment whose change is split.
func (x *wallets) countChange(s *bourse.SignedTx) {
	n := x.networks[s.Network-1]
	d, err := n.codec.Decode(s.Raw)
	want(err, "decoding what was signed")
	change := 0
	for i := range d.Pays {
		if d.Pays[i].To.Address == n.codec.Destination(chain.IndexChange).Address {
			change++
		}
	}
	if n.params.Shape.Outputs && change > 1 {
		x.world.count(ChangeSplit)
	}
}

// wait makes a step of everything else. A wallet ends with its process.
func (x *wallets) wait(life *process) {
	x.world.turn()
	if x.world.process != life {
		panic(ended{})
	}
}

// checkAnswer compares a wallet's answer with the journal.
func (x *wallets) checkAnswer(r *sequencer.Result) {
	want(r.Err, "a command of a wallet")
	if h := x.world.truth.at(r.Seq); h.events.Outcome != r.Outcome {
		fail("command %d of a wallet was answered %+v, and had the outcome %+v", r.Seq, r.Outcome, h.events.Outcome)
	}
}

// end leaves the signer's disk as the end of a process does.
func (x *wallets) end(how Kind) {
	if how == PowerCut || how == PowerCutInStart {
		x.vault = x.vault.Crash()
	} else {
		x.vault = x.vault.Clone()
	}
}

// openWallet opens the signer. Workers are created on demand.
func (p *process) openWallet(context.Context) error {
	x := p.world.wallets
	if len(x.networks) == 0 {
		return nil
	}
	keyrings := map[bourse.NetworkID]signer.Network{}
	for _, n := range x.networks {
		keyrings[n.id] = signer.Network{
			Account: signer.Account{Name: n.params.Symbol, Chain: n.params.Identity(), Public: n.keys.Public().String()},
			Codec:   n.codec, Keys: n.keys, MaxCost: bourse.Units(1 << 62),
			HourCost: signer.UnlimitedCost(), Limit: signer.Unlimited,
		}
	}
	var err error
	p.signer, err = signer.Open(x.vault, signer.Options{
		Networks: keyrings, Clock: func() bourse.Time { return p.world.now }, New: true, Exchange: signer.Exchange{Sandbox: true},
	})
	want(err, "opening the signer")
	return nil
}

// worker returns the wallet of a network.
func (p *process) worker(n *network) *wallet.Worker {
	if p.workers[n.id] == nil {
		transport := devnet.NewClient(n.params, n.keys.Public(), wire{n}, devnet.ClientOptions{Timeout: time.Hour})
		if n.params.Shape.Outputs {
			transport.Keep(n.cold())
		}
		p.workers[n.id] = wallet.NewWorker(wallet.Options{
			ID: n.id, Network: transport, Signer: pen{p}, Board: p.board, Listed: p, Submit: p.world.wallets.submit,
			Stuck: n.stuck, Outputs: n.outputs, Bands: n.bands(), Alone: n.bounds(), Credited: p.reader.Credited,
			Log: slog.New(slog.DiscardHandler),
		})
	}
	return p.workers[n.id]
}

// Listed returns a network's catalogue entries.
func (p *process) Listed(id bourse.NetworkID) (*bourse.Network, []*bourse.NetworkAsset, []*bourse.Asset) {
	return p.view.Catalogue().Carried(id)
}

// pen is the signer that a worker uses.
type pen struct{ p *process }

var errSigner = errors.New("the signer does not answer")

// Sign passes a request on. The signer may crash in it.
func (s pen) Sign(ctx context.Context, u chain.Unsigned, e signer.Expect) (signed signer.Signed, err error) {
	if n := s.p.world.wallets.networks[e.Network-1]; e.Kind == bourse.SignedCool && !slices.Contains(n.colds, e.To.Address) {
		n.colds = append(n.colds, e.To.Address)
	}
	lost := s.ask(ctx, func() { signed, err = s.p.signer.Sign(ctx, u, e) })
	if lost {
		return signer.Signed{}, errSigner
	}
	if errors.Is(err, signer.ErrRival) {
		id := e.ID
		if part := (*signer.PartError)(nil); errors.As(err, &part) {
			id = part.ID
		}
		s.p.world.wallets.rivals[id] = true
	}
	return signed, err
}

// After passes a question on.
func (s pen) After(ctx context.Context, n bourse.NetworkID, record uint64) (chain.Hash, []signer.Recorded, error) {
	return s.p.signer.After(ctx, n, record)
}

// Void passes a request on. The signer may crash in it.
func (s pen) Void(ctx context.Context, n bourse.NetworkID, id bourse.WalletID) (err error) {
	if s.ask(ctx, func() { err = s.p.signer.Void(ctx, n, id) }) {
		return errSigner
	}
	return err
}

// ask makes a request, in which the signer may crash. It reports whether the answer is
// lost.
func (s pen) ask(ctx context.Context, request func()) (lost bool) {
	w := s.p.world
	x := w.wallets
	x.mayEnd()

	crashes := w.chance.oneIn(w.shape.signerEnd)
	if crashes {
		x.vault.StopAt(1 + int(w.chance.Below(3)))
	}

	request()

	if crashes {
		w.count(SignerCrashed)
		w.trail.note("step %d: the signer crashes", w.steps)
		x.end(PowerCut)
		want(s.p.openWallet(ctx), "the signer")
		lost = w.chance.oneIn(2)
	}
	x.mayEnd()
	return lost
}
