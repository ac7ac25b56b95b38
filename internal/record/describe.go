package record

import (
	"fmt"
	"strings"
	"time"

	"github.com/bourse-exchange/bourse"
)

// Describe returns a command as one line for people.
func Describe(c *bourse.Command) string {
	k := find(c.Kind)
	switch {
	case k == nil:
		return fmt.Sprintf("kind %d", c.Kind)
	case k.details == nil:
		return k.name
	default:
		return k.name + " " + k.details(c) + describeOrdered(c)
	}
}

func span(t bourse.Time) time.Duration { return time.Duration(t) * time.Microsecond }

func account(c *bourse.Command) string { return fmt.Sprintf("account=%d", c.Account) }

func describeOrder(c *bourse.Command) string {
	return account(c) + " " + describeTerms(&c.NewOrder)
}

func describeList(c *bourse.Command) string {
	orders := make([]string, len(c.List.Orders))
	for i := range orders {
		orders[i] = describeTerms(&c.List.Orders[i])
	}
	return fmt.Sprintf("%s %s %s", account(c), c.List.Type, strings.Join(orders, ", "))
}

func describeTerms(p *bourse.NewOrder) string {
	var b strings.Builder
	fmt.Fprintf(&b, "market=%d %s %s %s", p.Market, p.Side, p.Type, p.TIF)

	if p.Price > 0 {
		fmt.Fprintf(&b, " ticks=%d", p.Price)
	}
	if p.Stop > 0 {
		fmt.Fprintf(&b, " stop=%d", p.Stop)
	}
	if p.Lots > 0 {
		fmt.Fprintf(&b, " lots=%d", p.Lots)
	}
	if !p.Total.IsZero() {
		fmt.Fprintf(&b, " total=%s", p.Total.Format(0))
	}

	if p.PostOnly {
		b.WriteString(" post_only")
	}
	if p.SelfTrade != 0 {
		fmt.Fprintf(&b, " stp=%s", p.SelfTrade)
	}
	if !p.ClientID.IsZero() {
		fmt.Fprintf(&b, " client_id=%s", p.ClientID)
	}
	return b.String()
}

func describeBlock(c *bourse.Command) string {
	b := c.Wallet.Block
	outputs := 0
	for i := range b.Txs {
		outputs += len(b.Txs[i].Inflows)
	}
	return fmt.Sprintf("network=%d height=%d hash=%x part=%d txs=%d outputs=%d",
		b.Network, b.Height, b.Hash, b.Part, len(b.Txs), outputs)
}

// describeTiers describes tiers with every limit, in units: an owner who approves them has nothing else to read.
func describeTiers(t *bourse.Tiers) string {
	var b strings.Builder
	fmt.Fprintf(&b, "tiers=%d", len(t.List))
	for i := range t.List {
		fmt.Fprintf(&b, "; %s:", t.List[i].Name)
		if len(t.List[i].Limits) == 0 {
			b.WriteString(" no limit")
		}
		for _, l := range t.List[i].Limits {
			fmt.Fprintf(&b, " asset=%d", l.Asset)
			for f := bourse.FlowDeposit; f <= bourse.LastFlow; f++ {
				if limit := l.Of(f); limit.IsSet() {
					fmt.Fprintf(&b, " %s=%s/%s", f, describeBound(limit.Day), describeBound(limit.Month))
				}
			}
		}
	}
	return b.String()
}

// describeBound describes the bound of a day or a month; none is a dash, because zero is a bound.
func describeBound(b bourse.Bound) string {
	if !b.Set {
		return "-"
	}
	return b.Most.Format(0)
}

func detailText(c *bourse.Command) string { return fmt.Sprintf("uid=%d %q", c.Operator, c.Text) }
func xid(c *bourse.Command) string        { return fmt.Sprintf("xid=%d", c.Wallet.ID) }

func describeSigned(s *bourse.SignedTx) string {
	text := fmt.Sprintf("%s network=%d xid=%d tx=%x from=%d nonce=%d inputs=%d bytes=%d",
		s.Kind, s.Network, s.Wallet, s.Tx, s.From, s.Nonce, len(s.Inputs), len(s.Raw))
	for i, p := range s.Joined {
		text += fmt.Sprintf("%s%d:%s", [...]string{" joined=", ","}[min(i, 1)], p.Wallet, p.Amount.Format(0))
	}
	return text
}

func describeEntry(c *bourse.Command) string {
	return fmt.Sprintf("record=%d %s", c.Wallet.Record, describeSigned(c.Wallet.Signed))
}

func describeWarm(c *bourse.Command) string {
	if !c.On {
		return fmt.Sprintf("network=%d end", c.Wallet.Network)
	}
	return describeSigned(c.Wallet.Signed)
}

func describeCool(c *bourse.Command) string {
	if !c.On {
		return fmt.Sprintf("network=%d end", c.Wallet.Network)
	}
	return fmt.Sprintf("network=%d asset=%d units=%s", c.Wallet.Network, c.AssetID, c.Amount.Format(0))
}

func describeFollow(c *bourse.Command) string {
	return fmt.Sprintf("network=%d height=%d hash=%x", c.Wallet.Network, c.Wallet.Height, c.Wallet.Tx)
}

func describePaid(c *bourse.Command) string {
	return fmt.Sprintf("xid=%d tx=%x", c.Wallet.ID, c.Wallet.Tx)
}
