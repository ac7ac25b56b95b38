package devnet

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse/internal/chain"
)

// Transport carries an encoded request to a node and returns its encoded answer. It
// returns when the context ends. Safe for concurrent use.
type Transport interface {
	Call(ctx context.Context, request []byte) ([]byte, error)
}

// request and answer are the messages of a connection.
type (
	request struct {
		ID     uint64         `json:"id"`
		Method string         `json:"method"`
		Params jsontext.Value `json:"params"`
	}
	answer struct {
		ID     uint64         `json:"id"`
		Result jsontext.Value `json:"result,omitempty"`
		Error  *fault         `json:"error,omitempty"`
	}
	fault struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
)

// The methods of a node, which also select the calls of a fault.
const (
	MethodHead        = "head"
	MethodBlock       = "block"
	MethodRate        = "rate"
	MethodEstimate    = "estimate"
	MethodBalance     = "balance"
	MethodNonce       = "nonce"
	MethodUnspent     = "unspent"
	MethodTransaction = "transaction"
	MethodBroadcast   = "broadcast"
)

// The error codes of a node's answers.
const (
	codeInvalid = -32602
	codeMethod  = -32601
	codeNoBlock = -5
	codeBroken  = -32603
)

// Parameters and results of the methods.
type (
	none       struct{}
	headResult struct {
		header
		Hash digest `json:"hash"`
		// Known is the highest block that the node knows.
		Known uint64 `json:"known"`
	}
	blockParams struct {
		Height uint64 `json:"height"`
	}
	rateResult struct {
		Rate uint64 `json:"rate"`
	}
	rawParams struct {
		Raw []byte `json:"raw"`
	}
	gasResult struct {
		Gas uint64 `json:"gas"`
	}
	addressParams struct {
		Address string       `json:"address"`
		Coin    chain.CoinID `json:"coin"`
	}
	balanceResult struct {
		addressParams
		Amount units `json:"amount"`
	}
	nonceResult struct {
		addressParams
		Nonce uint64 `json:"nonce"`
	}
	pointParams struct {
		Tx    digest `json:"tx"`
		Index uint32 `json:"index"`
	}
	unspentResult struct {
		pointParams
		Unspent bool `json:"unspent"`
	}
	hashParams struct {
		Hash digest `json:"hash"`
	}
	placeResult struct {
		hashParams
		// Place is one of the words below; Height, Block and Failed are set for
		// placeMined only.
		Place  string `json:"place"`
		Height uint64 `json:"height"`
		Block  digest `json:"block"`
		Failed bool   `json:"failed"`
		// Head is the node's height.
		Head uint64 `json:"head"`
	}
	verdictResult struct {
		Hash    digest `json:"hash"`
		Verdict string `json:"verdict"`
		Reason  string `json:"reason"`
	}
)

const (
	placeAbsent  = "absent"
	placeWaiting = "waiting"
	placeMined   = "mined"

	verdictAccepted = "accepted"
	verdictKnown    = "known"
	verdictRejected = "rejected"
	verdictStale    = "stale"
)

// Call answers one encoded request. It implements [Transport].
func (n *Node) Call(_ context.Context, text []byte) ([]byte, error) {
	var asked request
	a := answer{}
	if err := json.Unmarshal(text, &asked, json.RejectUnknownMembers(true)); err != nil {
		a.Error = &fault{codeInvalid, err.Error()}
	} else {
		a.ID = asked.ID
		a.Result, a.Error = n.answer(&asked)
	}
	return json.Marshal(&a)
}

func (n *Node) answer(asked *request) (jsontext.Value, *fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	result, err := n.result(asked)
	var said *fault
	switch {
	case errors.As(err, &said):
		return nil, said
	case err != nil:
		return nil, &fault{codeInvalid, err.Error()}
	}
	text, err := json.Marshal(result)
	if err != nil {
		return nil, &fault{codeBroken, err.Error()}
	}
	return text, nil
}

// Error returns the message.
func (f *fault) Error() string { return f.Message }

// with decodes a method's parameters.
func with[P any](asked *request, method func(P) (any, error)) (any, error) {
	var params P
	if err := json.Unmarshal(asked.Params, &params, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	return method(params)
}

func (n *Node) result(asked *request) (any, error) {
	switch asked.Method {
	case MethodHead:
		return with(asked, n.sayHead)
	case MethodBlock:
		return with(asked, n.sayBlock)
	case MethodRate:
		return with(asked, func(none) (any, error) { return rateResult{n.price()}, nil })
	case MethodEstimate:
		return with(asked, n.sayEstimate)
	case MethodBalance:
		return with(asked, n.sayBalance)
	case MethodNonce:
		return with(asked, func(p addressParams) (any, error) {
			return nonceResult{p, n.seen().nonces[p.Address]}, nil
		})
	case MethodUnspent:
		return with(asked, func(p pointParams) (any, error) {
			_, ok := n.seen().outputs[chain.Outpoint{Tx: chain.Hash(p.Tx), Index: p.Index}]
			return unspentResult{p, ok}, nil
		})
	case MethodTransaction:
		return with(asked, n.sayPlace)
	case MethodBroadcast:
		return with(asked, n.sayVerdict)
	}
	return nil, &fault{codeMethod, "no such method"}
}

// height is the height of the highest visible block.
func (n *Node) height() uint64 {
	head := n.head().Height
	return head - min(n.lag, head)
}

// seen is the state at that height.
func (n *Node) seen() *state {
	if n.lag == 0 {
		return n.tip
	}
	s := newState(n.params)
	for _, b := range n.blocks[:n.height()+1] {
		for i := range b.Txs {
			s.follow(&b.Txs[i])
		}
	}
	return s
}

func (n *Node) sayHead(none) (any, error) {
	b := n.blocks[n.height()]
	known := n.head().Height
	if n.silent {
		known = b.Height
	}
	return headResult{b.header, b.Hash, known}, nil
}

func (n *Node) sayBlock(p blockParams) (any, error) {
	if p.Height > n.height() {
		return nil, &fault{codeNoBlock, "no such block"}
	}
	return n.blocks[p.Height], nil
}

// sayEstimate returns the gas of a payment, signed or not.
func (n *Node) sayEstimate(p rawParams) (any, error) {
	t, err := n.params.parseTx(p.Raw)
	if err != nil {
		return nil, err
	}
	return gasResult{n.ahead().gas(t)}, nil
}

func (n *Node) sayBalance(p addressParams) (any, error) {
	return balanceResult{p, units(n.seen().balance(p.Address, p.Coin))}, nil
}

func (n *Node) sayPlace(p hashParams) (any, error) {
	r := placeResult{hashParams: p, Place: placeAbsent, Head: n.height()}
	height, ok := n.where[chain.Hash(p.Hash)]
	switch {
	case ok && height <= r.Head:
		b := n.blocks[height]
		r.Place, r.Height, r.Block = placeMined, height, b.Hash
		for i := range b.Txs {
			r.Failed = r.Failed || b.Txs[i].Hash == p.Hash && b.Txs[i].Failed
		}
	case ok || n.waits(chain.Hash(p.Hash)) != nil:
		r.Place = placeWaiting
	}
	return r, nil
}

// maxReason bounds the reason of a refusal, in bytes.
const maxReason = 200

func (n *Node) sayVerdict(p rawParams) (any, error) {
	hash, err := n.accept(p.Raw)
	r := verdictResult{Hash: digest(hash), Verdict: verdictAccepted}
	if n.broken != nil {
		return nil, &fault{codeBroken, n.broken.Error()}
	}
	switch {
	case errors.Is(err, errKnown):
		r.Verdict = verdictKnown
	case errors.Is(err, errNonceLow):
		r.Verdict = verdictStale
	case err != nil:
		r.Verdict = verdictRejected
	}
	if err != nil {
		r.Reason = err.Error()[:min(len(err.Error()), maxReason)]
	}
	return r, nil
}
