package bourse

// TransferKind is the cause of a transfer.
type TransferKind uint8

// The kinds of transfers.
const (
	// TransferCredit: a sandbox handed out money.
	TransferCredit TransferKind = iota + 1
	// TransferFeesCollected: fees went to the treasury.
	TransferFeesCollected
	// TransferDeposit: a deposit was mined, into pending deposits.
	TransferDeposit
	// TransferParked: a deposit without an owner was mined.
	TransferParked
	// TransferAssigned: an operator assigned a parked deposit to its owner.
	TransferAssigned
	// TransferCredited: a deposit reached its depth and was credited to the customer.
	TransferCredited
	// TransferFunding: the treasury's money reached the exchange's addresses.
	TransferFunding
	// TransferWithdrawal: a withdrawal was accepted by its network.
	TransferWithdrawal
	// TransferWithdrawalFee: the fee of a withdrawal.
	TransferWithdrawalFee
	// TransferPaid: a withdrawal's transaction was mined.
	TransferPaid
	// TransferNetworkCost: a network charged a fee for a transaction.
	TransferNetworkCost
	// TransferStrange: money left by a transaction that is not the exchange's.
	TransferStrange
	// TransferRewound: a block left the chain and one of its postings was reverted.
	TransferRewound
	// TransferInternal: a withdrawal to an account of this exchange.
	TransferInternal
	// TransferRefund: an operator paid a withdrawal back.
	TransferRefund
	// TransferToCustomer: a customer sent money to another.
	TransferToCustomer
)

// Transfer is one double-entry posting outside of trades: Amount moves from From to To.
type Transfer struct {
	Kind   TransferKind
	From   AccountID
	To     AccountID
	Asset  AssetID
	Amount Amount
}
