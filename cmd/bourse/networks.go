package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/bourse-exchange/bourse/internal/connect"
	"github.com/bourse-exchange/bourse/internal/signer/remote"
)

// networksFlag is the flag of the networks.
const networksFlag = "networks"

// realNetworks are the networks of an exchange of real money.
type realNetworks struct {
	list []connect.Settings
	// signer is where a file of networks says that the signer is.
	signer connect.Signer
}

// UnmarshalText reads the name of a file of networks, or the block of a configuration file, which has
// several lines.
func (n *realNetworks) UnmarshalText(text []byte) (err error) {
	if strings.Contains(string(text), "\n") {
		n.list, err = connect.ParseProduction(text)
		return err
	}
	if text, err = readBounded(string(text)); err != nil {
		return err
	}
	n.list, n.signer, err = connect.ReadProduction(strings.NewReader(string(text)))
	return err
}

// keeper returns the address of the signer; nil without one, and then there is no network.
func (s *serve) keeper() (*remote.Address, error) {
	a, err := s.Signer.or(s.Networks.signer).address()
	if err == nil && a == nil && len(s.Networks.list) > 0 {
		err = errors.New("--networks needs bourse-signer: set --signer-socket, or --signer-url with --signer-cert, --signer-key and --signer-pin")
	}
	return a, err
}

// readNetworks reads a file of networks of a sandbox, and where their signer is; an empty name is none.
func readNetworks(name string) ([]connect.Settings, connect.Signer, error) {
	if name == "" {
		return nil, connect.Signer{}, nil
	}
	f, err := os.Open(name) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, connect.Signer{}, fmt.Errorf("--networks: %w", err)
	}
	list, signer, err := connect.ReadSandbox(f)
	return list, signer, errors.Join(err, f.Close())
}
