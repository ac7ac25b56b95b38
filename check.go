package bourse

// KnownRules reports whether this program knows a version of the rules.
func KnownRules(v uint32) bool { return v >= 1 && v <= CurrentRules }

// Valid reports whether p is well formed.
func (p *NewOrder) Valid() bool {
	if p.Market == 0 || p.Side < Buy || p.Side > Sell || p.TIF < GTC || p.TIF > IOC ||
		p.SelfTrade > LastSelfTradeMode || p.Price > MaxPrice || p.Stop > MaxPrice || p.Lots > MaxLots {
		return false
	}
	byLots := p.Lots > 0 && p.Total.IsZero()
	switch p.Type {
	case Limit:
		return byLots && p.Price > 0 && p.Stop == 0 && (!p.PostOnly || p.TIF == GTC)
	case StopLimit, TakeProfitLimit:
		return byLots && p.Price > 0 && p.Stop > 0 && !p.PostOnly
	case MarketOrder:
		return (byLots || p.byTotal()) && p.Price == 0 && p.Stop == 0 && !p.PostOnly
	case StopMarket, TakeProfitMarket:
		// The hold of a SELL by total depends on the book, which is unknown before the trigger.
		return (byLots || p.byTotal() && p.Side == Buy) && p.Price == 0 && p.Stop > 0 && !p.PostOnly
	}
	return false
}

func (p *NewOrder) byTotal() bool { return p.Lots == 0 && !p.Total.IsZero() }

// Valid reports whether a is well formed.
func (a *Asset) Valid() bool {
	return ValidSymbol(a.Symbol) && a.Scale <= MaxScale && validText(a.Name)
}

// Valid reports whether n is well formed.
func (n *Network) Valid() bool {
	return ValidSymbol(n.Symbol) && validText(n.Name) && (n.MemoName == "" || validText(n.MemoName))
}

// Valid reports whether n is well formed.
func (n *NetworkAsset) Valid() bool {
	return n.Asset > 0 && n.Network > 0 && n.Precision <= MaxScale && n.Confirms > 0 &&
		len(n.Contract) <= 128 && !n.FeeMax.Less(n.FeeMin)
}

// Valid reports whether m is well formed.
func (m *Market) Valid() bool {
	return m.Base > 0 && m.Quote > 0 && m.Base != m.Quote &&
		m.BasePrecision <= MaxScale && m.QuotePrecision <= MaxScale &&
		m.InitialPrice > 0 && m.InitialPrice <= m.MaxPrice && m.MaxPrice <= MaxPrice &&
		m.Maker < RateOne && m.Taker < RateOne && m.Collar < RateOne && (m.Band == 0 || m.Band > RateOne) &&
		m.SelfTrade >= SelfTradeNone && m.SelfTrade <= LastSelfTradeMode
}

// Valid reports whether s is well formed.
func (s *FeeSchedule) Valid() bool {
	if s.VolumeAsset == 0 || len(s.Levels) == 0 || len(s.Levels) > MaxFeeLevels || !s.Levels[0].Volume.IsZero() {
		return false
	}
	for i := range s.Levels {
		l := &s.Levels[i]
		if l.Maker >= RateOne || l.Taker >= RateOne || i > 0 && !s.Levels[i-1].Volume.Less(l.Volume) {
			return false
		}
	}
	return true
}

// Valid reports whether a is well formed.
func (a *Access) Valid() bool { return a != nil && a.Expires >= 0 }

// IsPerson reports whether a is the well-formed access of a person, which never ends.
func (a *Access) IsPerson() bool { return a != nil && a.Expires == 0 }

// Valid reports whether b is well formed.
func (b *BlockEffect) Valid() bool {
	entries := 0
	for i := range b.Txs {
		tx := &b.Txs[i]
		entries += tx.Entries()
		if (tx.Hash == TxHash{}) || len(tx.Outflows)+len(tx.Inflows) == 0 ||
			!b.ByOutput && len(tx.Spent) > 0 || !tx.Valid() {
			return false
		}
	}
	return b.Network > 0 && b.Hash != TxHash{} && b.Hash != b.Parent && b.Time >= 0 &&
		b.Height < 1<<62 && b.Part < 1<<31 && entries <= MaxBlockEntries
}

// Valid reports whether t is well formed.
func (t *TxEffect) Valid() bool {
	for i := range t.Outflows {
		if t.Outflows[i].Asset == 0 || t.Outflows[i].Amount.IsZero() {
			return false
		}
	}
	for i := range t.Inflows {
		o := &t.Inflows[i]
		owned := o.Owner == 0 || o.Owner == AccountTreasury || o.Owner.IsCustomer()
		// Indexes strictly rise, so none repeats.
		if !owned || o.Asset == 0 || o.Amount.IsZero() || len(o.Memo) > MaxMemo || o.OverAlone && !o.Owner.IsCustomer() ||
			i > 0 && o.Index <= t.Inflows[i-1].Index {
			return false
		}
	}
	return true
}

// Valid reports whether w is well formed.
func (w *Withdraw) Valid() bool {
	if w.Transfer() {
		return w.isTransfer()
	}
	return w.Asset > 0 && !w.Amount.IsZero() && validAddress(w.Address, w.Memo) &&
		(w.Internal == 0 || w.Internal.IsCustomer()) &&
		(w.ClientID.IsZero() || w.Once.IsZero()) && w.checkAgain() && w.Message == Token{}
}

// isTransfer reports whether w is a well-formed transfer between customers: a receiving
// account, which may be unknown by the time of a repetition, no address, no fee and no
// entry of the address book.
func (w *Withdraw) isTransfer() bool {
	return w.Asset > 0 && !w.Amount.IsZero() && w.Fee.IsZero() &&
		w.Address == "" && w.Memo == "" && (w.Internal.IsCustomer() || w.Again && w.Internal == 0) &&
		w.Save == Token{} && w.ClientID.IsZero() && w.checkAgain()
}

// checkAgain reports whether a request for an earlier outcome carries a name to find it by.
func (w *Withdraw) checkAgain() bool { return !w.Again || w.Named() && !w.Factor }

// Valid reports whether s is well formed.
func (s *SavedAddress) Valid() bool {
	return s.Network > 0 && s.Asset > 0 && validAddress(s.Address, s.Memo)
}

// Valid reports whether s is well formed.
func (s *SignedTx) Valid() bool {
	return s.Network > 0 && s.Kind >= SignedWithdrawal && s.Kind <= SignedWarm &&
		s.Kind.HasID() == (s.Wallet > 0) && s.Tx != TxHash{} &&
		len(s.Raw) > 0 && len(s.Raw) <= MaxRaw && len(s.Inputs) <= MaxInputs && s.Nonce < 1<<62 &&
		(len(s.Joined) == 0 || s.joins())
}

// joins reports whether a transaction can be a joined one: it spends outputs, a journal can have allotted its ids, and
// the sum of its amounts fits.
func (s *SignedTx) joins() bool {
	if s.Kind != SignedWithdrawal || len(s.Inputs) == 0 || len(s.Joined) < 2 || len(s.Joined) > MaxJoined ||
		s.Joined[0].Wallet != s.Wallet {
		return false
	}
	var sum Amount
	last := WalletID(0)
	for _, p := range s.Joined {
		var fits bool
		if sum, fits = sum.Add(p.Amount); !fits || p.Amount.IsZero() || p.Wallet <= last || p.Wallet >= 1<<62 {
			return false
		}
		last = p.Wallet
	}
	return true
}

func validAddress(address, memo string) bool {
	return len(address) <= MaxAddress && validText(address) &&
		len(memo) <= MaxMemo && isPrintable(memo)
}

// validText reports whether s is a display name: 1 to 128 bytes without control characters.
func validText(s string) bool { return len(s) >= 1 && len(s) <= 128 && isPrintable(s) }

// isPrintable reports whether s has no control characters.
func isPrintable(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' || c == 0x7f {
			return false
		}
	}
	return true
}
