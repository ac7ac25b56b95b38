package audit

import (
	"fmt"

	"github.com/bourse-exchange/bourse"
)

// describeWallet says in one line what a command of the wallet asks for.
func describeWallet(c *bourse.Command) string {
	f := c.Wallet
	switch c.Kind {
	case bourse.CommandBlock:
		return describeBlock(f.Block)
	case bourse.CommandRewind:
		return fmt.Sprintf("rewind network=%d height=%d", f.Network, f.Height)
	case bourse.CommandWithdraw:
		w := f.Withdraw
		return fmt.Sprintf("withdraw account=%d network=%d asset=%d units=%s fee=%s address=%q memo=%q internal=%d client_id=%s",
			c.Account, w.Network, w.Asset, w.Amount.Format(0), w.Fee.Format(0), w.Address, w.Memo, w.Internal, w.ClientID)
	case bourse.CommandTransfer:
		w := f.Withdraw
		return fmt.Sprintf("transfer account=%d to=%d asset=%d units=%s", c.Account, w.Internal, w.Asset, w.Amount.Format(0))
	case bourse.CommandCancelWithdrawal:
		return fmt.Sprintf("cancel-withdrawal account=%d xid=%d", c.Account, f.ID)
	case bourse.CommandDecideWithdrawal:
		return fmt.Sprintf("decide-withdrawal xid=%d approve=%t", f.ID, c.On)
	case bourse.CommandSigned:
		s := f.Signed
		return fmt.Sprintf("signed %s network=%d xid=%d tx=%x from=%d nonce=%d inputs=%d bytes=%d",
			s.Kind, s.Network, s.Wallet, s.Tx, s.From, s.Nonce, len(s.Inputs), len(s.Raw))
	case bourse.CommandSent:
		return fmt.Sprintf("sent network=%d tx=%x", f.Network, f.Tx)
	case bourse.CommandPauseWithdrawals:
		return fmt.Sprintf("pause-withdrawals network=%d on=%t", f.Network, c.On)
	case bourse.CommandAssignDeposit:
		return fmt.Sprintf("assign-deposit account=%d deposit=%d", c.Account, f.Deposit)
	case bourse.CommandSaveAddress:
		return fmt.Sprintf("save-address account=%d network=%d address=%q memo=%q", c.Account, f.Save.Network, f.Save.Address, f.Save.Memo)
	case bourse.CommandForgetAddress:
		return fmt.Sprintf("forget-address account=%d adbkid=%d", c.Account, f.Address)
	case bourse.CommandReplaceWithdrawal:
		return fmt.Sprintf("replace-withdrawal xid=%d", f.ID)
	case bourse.CommandReleaseWithdrawal:
		if f.ID == 0 {
			return fmt.Sprintf("release network=%d tx=%x", f.Network, f.Tx)
		}
		return fmt.Sprintf("release-withdrawal xid=%d", f.ID)
	default:
		return fmt.Sprintf("kind %d", c.Kind)
	}
}

func describeBlock(b *bourse.Block) string {
	outputs := 0
	for i := range b.Txs {
		outputs += len(b.Txs[i].Outputs)
	}
	return fmt.Sprintf("block network=%d height=%d hash=%x part=%d txs=%d outputs=%d",
		b.Network, b.Height, b.Hash, b.Part, len(b.Txs), outputs)
}
