package bourse

// RequestHash stands for a text of a client: its name for a request, or all that
// the request says.
type RequestHash [16]byte

// Once makes a request happen once: whoever sends Key again with the same Body is
// told the first outcome. The zero value asks for nothing.
type Once struct{ Key, Body RequestHash }

// Given reports whether o is not the zero value.
func (o *Once) Given() bool { return *o != Once{} }

// checkTransfer reports whether w can be what a customer asks for who gives money
// to another: a withdrawal that leaves no account of the exchange, over no network.
func (w *Withdraw) checkTransfer() bool {
	return w.Network == 0 && w.Asset > 0 && !w.Amount.IsZero() && w.Fee.IsZero() &&
		w.Address == "" && w.Memo == "" && w.Internal.IsCustomer() &&
		w.Save == Token{} && !w.ClientID.Given() && w.checkAgain()
}
