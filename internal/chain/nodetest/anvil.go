package nodetest

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Anvil returns anvil, a node of Ethereum that tests control. Its chain begins with the contracts
// of tests. Each epoch has one block: the safe block is one below the head, the finalized one two.
func Anvil() *Kind {
	return &Kind{
		Name: "anvil",
		args: func(dir, port string) []string {
			args := []string{
				"--host", "127.0.0.1", "--port", port, "--no-mining", "--order", "fifo", "--slots-in-an-epoch", "1",
				"--accounts", fmt.Sprint(payers), "--chain-id", fmt.Sprint(EtherChain),
			}
			if state := filepath.Join(dir, stateFile); exists(state) {
				return append(args, "--load-state", state)
			}
			return append(args, "--init", filepath.Join(dir, genesisFile))
		},
		prepare: func(dir string) error {
			return writeGenesis(dir, nil, map[string]any{"chainId": EtherChain})
		},
		ready:   regexp.MustCompile(`Listening on`),
		stop:    saveState,
		control: func(o *Ether) control { return &anvil{Ether: o} },
	}
}

const stateFile = "state.json"

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// saveState writes the node's chain to the file with which its next process starts.
func saveState(n *Node) error {
	var dump string
	if err := n.RPC.Call(n.t.Context(), &dump, "anvil_dumpState", true); err != nil {
		return err
	}
	text, err := plain(dump)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(n.dir, stateFile), text, 0o600)
}

// anvil makes the blocks of anvil.
type anvil struct {
	*Ether
	// before is the chain from which hide took its last blocks.
	before string
}

func (a *anvil) mine(count int) error {
	for range count {
		if err := a.call(nil, "evm_mine"); err != nil {
			return err
		}
	}
	return nil
}

// alone runs a change of the chain without the pending transactions, which wait again behind it.
func (a *anvil) alone(change func() error) error {
	pool, err := a.pool()
	if err != nil {
		return err
	}
	if err := a.call(nil, "anvil_dropAllTransactions"); err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	a.offer(pool)
	return nil
}

func (a *anvil) mineEmpty(count int) error {
	return a.alone(func() error { return a.mine(count) })
}

func (a *anvil) spike(price uint64) error {
	if err := a.call(nil, "anvil_setNextBlockBaseFeePerGas", fmt.Sprintf("0x%x", price)); err != nil {
		return err
	}
	return a.mine(1)
}

func (a *anvil) replace(depth int, raws ...string) error {
	return a.alone(func() error {
		if err := a.call(nil, "anvil_reorg", depth, []any{}); err != nil {
			return err
		}
		for _, raw := range raws {
			if err := a.send(raw); err != nil {
				return err
			}
		}
		return a.mine(1)
	})
}

func (a *anvil) hide(blocks uint64) error {
	if err := a.call(&a.before, "anvil_dumpState", true); err != nil {
		return err
	}
	return a.call(nil, "anvil_rollback", blocks)
}

func (a *anvil) unhide() error {
	if err := a.call(nil, "anvil_dropAllTransactions"); err != nil {
		return err
	}
	return a.call(nil, "anvil_loadState", a.before)
}

// halt freezes the node, whose chain would not survive a kill: it accepts requests and answers none.
func (a *anvil) halt() error {
	a.node.Freeze()
	return nil
}

func (a *anvil) resume() error {
	a.node.Thaw()
	return nil
}

// plain returns the chain that the node dumped, as it is read from a file: without compression.
func plain(dump string) ([]byte, error) {
	packed, err := hex.DecodeString(strings.TrimPrefix(dump, "0x"))
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
