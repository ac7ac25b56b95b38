package bourse

// ListType determines how the orders of a list depend on each other.
type ListType uint8

// The list types.
const (
	// OCO, one cancels the other: of two orders the first that trades, or whose stop is
	// triggered, kills the other one.
	OCO ListType = iota + 1

	// LastListType is the newest type that this program knows.
	LastListType = OCO
)

var listWords = [...]string{"", "OCO"}

// String returns OCO.
func (t ListType) String() string { return word(listWords[:], t) }

// ParseListType reads OCO.
func ParseListType(s string) (ListType, bool) { return parseWord[ListType](listWords[:], s) }

// MaxListed bounds the orders of a list.
const MaxListed = 2

// NewList is a client's request for a list of orders, which are accepted together or not at
// all.
type NewList struct {
	Type ListType
	// Orders are the legs: of one market and side. Their ids will follow each other.
	Orders []NewOrder
}

// Market returns the market of all orders of a valid list.
func (l *NewList) Market() MarketID { return l.Orders[0].Market }

// Valid reports whether l is well formed.
func (l *NewList) Valid() bool {
	if l.Type != OCO || len(l.Orders) != MaxListed {
		return false
	}
	a, b := &l.Orders[0], &l.Orders[1]
	return a.Valid() && b.Valid() && a.isLeg() && b.isLeg() &&
		a.Market == b.Market && a.Side == b.Side &&
		// A book must not offer what trades but once: a taker is promised its whole depth.
		(a.Type.HasStop() || b.Type.HasStop()) &&
		(a.ClientID.IsZero() || a.ClientID != b.ClientID)
}

// isLeg reports whether p may wait or rest for as long as the other order of its list does.
func (p *NewOrder) isLeg() bool { return p.Type.HasStop() || p.Type == Limit && p.TIF == GTC }

// Equal reports whether two lists ask for the same.
func (l *NewList) Equal(other *NewList) bool {
	if l.Type != other.Type || len(l.Orders) != len(other.Orders) {
		return false
	}
	for i := range l.Orders {
		if l.Orders[i] != other.Orders[i] {
			return false
		}
	}
	return true
}
