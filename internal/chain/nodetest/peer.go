package nodetest

import "fmt"

// Feed gives another node of the same program the blocks that it lacks of the outside world's chain, as a peer would. It
// leaves a shorter chain of its own.
func (o *Outside) Feed(other *Node) error {
	head, err := o.head()
	if err != nil {
		return err
	}
	var has uint64
	other.Ask(&has, "getblockcount")
	common := min(has, head.Height)
	for ; common > 0; common-- {
		var here, there string
		if err := o.call(&here, "getblockhash", common); err != nil {
			return err
		}
		if other.Ask(&there, "getblockhash", common); here == there {
			break
		}
	}

	var hash string
	for height := common + 1; height <= head.Height; height++ {
		var block string
		if err := o.call(&hash, "getblockhash", height); err != nil {
			return err
		}
		if err := o.call(&block, "getblock", hash, 0); err != nil {
			return err
		}
		other.Ask(nil, "submitblock", block)
	}
	var best string
	if other.Ask(&best, "getbestblockhash"); hash != "" && best != hash {
		return fmt.Errorf("the node's last block is %s, not %s", best, hash)
	}
	return nil
}

// Part has another node make empty blocks of its own, which the outside world's chain does not have.
func (o *Outside) Part(other *Node, blocks int) error {
	to, err := o.NewAddress()
	if err != nil {
		return err
	}
	other.Ask(nil, "generatetoaddress", blocks, to)
	return nil
}
