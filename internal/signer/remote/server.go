package remote

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// Bounds of the server.
const (
	// arriveWithin bounds the time until the peer is known, the handshake of TLS included;
	// restWithin that from a frame's first byte to its last, and that of an answer; idleFor that
	// between two requests.
	arriveWithin = 5 * time.Second
	restWithin   = 5 * time.Second
	idleFor      = 10 * time.Minute
	// maxRaw bounds the bytes of a transaction, and roughly those of one answer's transactions.
	maxRaw = MaxFrame / 2
	// maxShare is a withdrawal of a joined transaction in an answer, as bytes of a transaction: those take a third
	// more.
	maxShare = 64
	// acceptAgain is the pause after a listener's error, such as that the process has no file left.
	acceptAgain = 100 * time.Millisecond
)

// Server answers the requests of the exchange, or those of operators.
type Server struct {
	Local *signer.Local
	// Admit refuses a peer; nil refuses none.
	Admit func(net.Conn) error
	Now   func() time.Time
	Log   *slog.Logger
}

// Serve answers the connections of a listener until ctx ends, and closes all of them.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	greeted := &room{most: maxConnections}
	return s.serve(ctx, l, func(ctx context.Context, v *visitor) error { return s.converse(ctx, v, greeted) })
}

func (s *Server) serve(ctx context.Context, l net.Listener, converse func(context.Context, *visitor) error) error {
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	arriving, known := &room{most: maxArriving}, &room{most: maxConnections}
	var running sync.WaitGroup
	defer running.Wait()
	for {
		c, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("accepting connections: %w", err)
		case err != nil:
			s.Log.Error("accepting connections", slog.Any("error", err))
			pause, cancel := context.WithTimeout(ctx, acceptAgain)
			<-pause.Done()
			cancel()
			continue
		}

		v := &visitor{Conn: c}
		v.enter(arriving)
		running.Go(func() {
			defer context.AfterFunc(ctx, func() { _ = c.Close() })()
			err := s.admit(ctx, v)
			if err == nil {
				v.enter(known)
				err = converse(ctx, v)
			}
			v.leave()
			if errors.Is(err, io.EOF) {
				err = nil // the peer left
			}
			if err := errors.Join(err, c.Close()); err != nil && ctx.Err() == nil {
				v.room.warn(s.Log, s.Now(), err)
			}
		})
	}
}

// admit learns who the peer is, within arriveWithin.
func (s *Server) admit(ctx context.Context, v *visitor) error {
	if err := v.SetDeadline(s.Now().Add(arriveWithin)); err != nil {
		return err
	}
	if t, ok := v.Conn.(*tls.Conn); ok {
		if err := t.HandshakeContext(ctx); err != nil {
			return err
		}
	}
	if s.Admit == nil {
		return nil
	}
	return s.Admit(v.Conn)
}

// converse takes hello and then requests, or look alone.
func (s *Server) converse(ctx context.Context, c *visitor, greeted *room) error {
	if err := c.SetDeadline(s.Now().Add(restWithin)); err != nil {
		return err
	}
	var first request
	if err := readFrame(c, &first); err != nil {
		return err
	}
	if first.Look != nil && first.one() {
		status := s.Local.Status()
		return writeFrame(c, &reply{N: first.N, Looked: &status})
	}
	if first.Hello == nil || !first.one() {
		return fmt.Errorf("%w: the first one is no hello", errFrame)
	}
	session, err := s.Local.Session(first.Hello.hello())
	if err != nil {
		return errors.Join(err, writeFrame(c, &reply{N: first.N, Error: failureOf(err)}))
	}
	c.enter(greeted)
	if err := writeFrame(c, &reply{N: first.N, Greeting: &greeting{s.accounts()}}); err != nil {
		return err
	}

	return s.answerAll(c, func(r *request) (*reply, error) {
		answer := &reply{N: r.N}
		var err error
		switch {
		case r.Signed != nil:
			answer.Record, err = s.signed(ctx, session, r.Signed)
		case r.Sign != nil:
			answer.Made, err = s.sign(ctx, session, r.Sign)
		case r.Void != nil:
			err = s.void(ctx, session, r.Void)
		default:
			return nil, fmt.Errorf("%w: not a request of an exchange", errFrame)
		}
		if err != nil {
			answer.Error = failureOf(err)
		}
		return answer, nil
	})
}

// answerAll answers requests until the peer leaves, is late, or sends anything else.
func (s *Server) answerAll(c net.Conn, answer func(*request) (*reply, error)) error {
	in := bufio.NewReader(c)
	for {
		if err := c.SetDeadline(s.Now().Add(idleFor)); err != nil {
			return err
		}
		if _, err := in.Peek(1); err != nil {
			return err
		}
		if err := c.SetDeadline(s.Now().Add(restWithin)); err != nil {
			return err
		}
		var r request
		if err := readFrame(in, &r); err != nil {
			return err
		}
		if !r.one() {
			return fmt.Errorf("%w: not one request", errFrame)
		}

		a, err := answer(&r)
		if err != nil {
			return err
		}
		if err := c.SetDeadline(s.Now().Add(restWithin)); err != nil {
			return err
		}
		if err := writeFrame(c, a); err != nil {
			return err
		}
	}
}

// one reports whether a frame has exactly one request.
func (r *request) one() bool {
	count := 0
	for _, is := range [...]bool{
		r.Hello != nil, r.Signed != nil, r.Sign != nil, r.Void != nil, r.Look != nil, r.Status != nil, r.Approve != nil,
	} {
		if is {
			count++
		}
	}
	return count == 1
}

func (h *hello) hello() *signer.Hello {
	out := &signer.Hello{
		Exchange: signer.Exchange{ID: h.Exchange, Sandbox: h.Sandbox}, Epoch: signer.Epoch{Incarnation: h.Incarnation, Term: h.Term},
	}
	for _, a := range h.Networks {
		out.Networks = append(out.Networks, signer.Account{Name: a.Name, Chain: a.Chain, Public: a.Keys, Cold: a.Cold})
	}
	return out
}

// accounts returns the signer's networks as they travel.
func (s *Server) accounts() (list []account) {
	for _, a := range s.Local.Accounts() {
		list = append(list, account{a.Name, a.Chain, a.Public, a.Cold})
	}
	return list
}

// number returns a network's number in the record.
func (s *Server) number(name bourse.Symbol) (bourse.NetworkID, error) {
	if id, known := s.Local.Number(name); known {
		return id, nil
	}
	return 0, fmt.Errorf("%w: network %q has no keys here", signer.ErrMismatch, name)
}

func (s *Server) signed(ctx context.Context, of *signer.Session, r *signedRequest) (*recordReply, error) {
	id, err := s.number(r.Network)
	if err != nil {
		return nil, err
	}
	chained, list, err := of.After(ctx, id, r.After)
	if err != nil {
		return nil, err
	}
	answer, size := &recordReply{Chain: chained, Entries: []made{}}, 0
	for i := range list {
		if size += len(list[i].Raw) + maxShare*len(list[i].Shares); size > maxRaw && i > 0 {
			answer.More = true
			break
		}
		answer.Entries = append(answer.Entries, madeOf(&list[i].Signed, list[i].Kind, list[i].ID))
	}
	return answer, nil
}

func madeOf(s *signer.Signed, kind bourse.SignedKind, id bourse.WalletID) made {
	m := made{Record: s.Record, Chain: s.Chain, Hash: s.Hash, Kind: kind, ID: id, Raw: s.Raw}
	for _, p := range s.Shares {
		m.Shares = append(m.Shares, share{p.ID, units(p.Amount)})
	}
	return m
}

func (s *Server) sign(ctx context.Context, of *signer.Session, r *signRequest) (*made, error) {
	id, err := s.number(r.Network)
	if err != nil {
		return nil, err
	}
	if len(r.Raw) > maxRaw {
		return nil, fmt.Errorf("%w: %d bytes", signer.ErrMismatch, len(r.Raw))
	}
	var with []signer.Part
	for _, p := range r.With {
		with = append(with, signer.Part{ID: p.ID, Amount: bourse.Amount(p.Amount), To: chain.Destination{Address: p.Address}})
	}
	signed, err := of.Sign(ctx, chain.Unsigned{Raw: r.Raw}, signer.Expect{
		With: with, Known: r.Known, Network: id, Kind: r.Kind, ID: r.ID, Attempt: r.Attempt, Coin: r.Coin,
		Amount: bourse.Amount(r.Amount),
		To:     chain.Destination{Address: r.Address, Memo: r.Memo}, CostCap: bourse.Amount(r.CostCap),
		Account: r.Account, Nonce: r.Nonce,
	})
	if err != nil {
		return nil, err
	}
	m := madeOf(&signed, r.Kind, r.ID)
	return &m, nil
}

func (s *Server) void(ctx context.Context, of *signer.Session, r *voidRequest) error {
	id, err := s.number(r.Network)
	if err != nil {
		return err
	}
	return of.Void(ctx, id, r.ID)
}
