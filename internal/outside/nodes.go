package outside

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os/exec"
)

// Node is what bourse dev --nodes prints of one of its nodes.
type Node struct {
	Node   uint64 `json:"node"`
	PID    int    `json:"pid"`
	Listen string `json:"listen"`
	Role   string `json:"role"`
}

// Nodes starts a process that runs count nodes, and returns their lines, which come once one leads.
func Nodes(cmd *exec.Cmd, count int) ([]Node, error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}

	nodes := make([]Node, count)
	for i, lines := 0, bufio.NewScanner(out); i < count; i++ {
		if !lines.Scan() {
			return nil, fmt.Errorf("the nodes did not start: %w", cmd.Wait())
		}
		if err := json.Unmarshal(lines.Bytes(), &nodes[i]); err != nil {
			return nil, fmt.Errorf("line %q of a node: %w", lines.Text(), err)
		}
	}
	return nodes, nil
}
