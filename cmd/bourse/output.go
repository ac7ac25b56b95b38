package main

import (
	"encoding/json"
	"os"

	"go.yaml.in/yaml/v3"
	"golang.org/x/sys/unix"
)

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), getTermios)
	return err == nil
}

// print prints an answer: as YAML to a terminal, otherwise as one JSON object on one
// line.
func (p *program) print(answer any) error {
	text, isText := answer.([]byte)
	if !isText {
		var err error
		if text, err = json.Marshal(answer); err != nil {
			return err
		}
	}
	if !p.pretty {
		_, err := p.stdout.Write(append(text, '\n'))
		return err
	}

	var node yaml.Node // JSON is YAML; a node keeps the order of the fields
	if err := yaml.Unmarshal(text, &node); err != nil {
		return err
	}

	plain(&node)
	e := yaml.NewEncoder(p.stdout)
	e.SetIndent(2)
	if err := e.Encode(&node); err != nil {
		return err
	}
	return e.Close()
}

// plain resets nodes to block style, because those parsed from JSON have flow style.
func plain(n *yaml.Node) {
	n.Style = 0
	for _, c := range n.Content {
		plain(c)
	}
}
