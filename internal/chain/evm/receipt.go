package evm

import "github.com/bourse-exchange/bourse/internal/chain"

// receipt is the outcome of a transaction, as a node answers it.
type receipt struct {
	Type   quantity  `json:"type"`
	Status *quantity `json:"status"`
	// Gas is that of the block's transactions up to this one.
	Gas   quantity `json:"cumulativeGasUsed"`
	Bloom data     `json:"logsBloom"`
	Logs  []event  `json:"logs"`
	Hash  digest   `json:"transactionHash"`
}

// event is a log of a contract.
type event struct {
	Contract data     `json:"address"`
	Topics   []digest `json:"topics"`
	Data     data     `json:"data"`
}

// encode returns the bytes that the header's root covers; false for a receipt of the time before
// receipts had a status.
func (r *receipt) encode() ([]byte, bool) {
	if r.Status == nil || len(r.Type) > 1 {
		return nil, false
	}
	b := appendString(appendString(appendString(nil, *r.Status), r.Gas), r.Bloom)
	var logs []byte
	for i := range r.Logs {
		l := &r.Logs[i]
		logs = appendList(logs, appendString(appendDigests(appendString(nil, l.Contract), l.Topics), l.Data))
	}
	return append(append([]byte(nil), r.Type...), list(appendList(b, logs))...), true
}

// succeeded reports whether the transaction had its effect.
func (r *receipt) succeeded() bool { return len(*r.Status) > 0 }

// transferTopic is the hash of Transfer(address,address,uint256).
var transferTopic = keccak([]byte("Transfer(address,address,uint256)"))

// move is a token's transfer.
type move struct {
	contract address
	from, to address
	amount   quantity
}

// move returns the transfer that a log tells of, if it has the form of one (ERC-20).
func (l *event) move() (m move, ok bool) {
	if len(l.Contract) != len(m.contract) || len(l.Topics) != 3 || chain.Hash(l.Topics[0]) != transferTopic ||
		len(l.Data) != wordSize {
		return m, false
	}
	from, ok := addressWord(l.Topics[1][:])
	to, also := addressWord(l.Topics[2][:])
	return move{address(l.Contract), from, to, trim(l.Data)}, ok && also
}
