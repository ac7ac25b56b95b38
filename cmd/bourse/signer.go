package main

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/bourse-exchange/bourse/internal/connect"
	"github.com/bourse-exchange/bourse/internal/pinned"
	"github.com/bourse-exchange/bourse/internal/signer/remote"
)

// remoteSigner is where a signer in a process of its own listens.
type remoteSigner struct {
	Socket string `help:"Unix socket of bourse-signer." placeholder:"PATH"`
	URL    string `help:"Address of bourse-signer on another machine, as tls://HOST:PORT." placeholder:"URL"`
	Cert   string `help:"Certificate that the signer knows this exchange by, PEM." placeholder:"FILE"`
	Key    string `help:"Key of that certificate, PEM." placeholder:"FILE"`
	Pin    string `help:"Pin of the signer's key, as bourse-signer certify prints it." placeholder:"HEX"`
}

// or returns the settings of the command line, or else those of a file.
func (r *remoteSigner) or(file connect.Signer) *remoteSigner {
	if *r != (remoteSigner{}) {
		return r
	}
	return &remoteSigner{Socket: file.Socket, URL: file.URL, Cert: file.Cert, Key: file.Key, Pin: file.Pin}
}

// scheme begins the URL of a signer.
const scheme = "tls://"

// address returns the signer's address; nil without one.
func (r *remoteSigner) address() (*remote.Address, error) {
	own := r.Cert != "" || r.Key != "" || r.Pin != ""
	switch {
	case r.Socket != "" && (r.URL != "" || own):
		return nil, errors.New("--signer-socket takes no other setting of the signer's address beside it")
	case r.Socket != "":
		return &remote.Address{Socket: r.Socket}, nil
	case r.URL == "" && own:
		return nil, errors.New("--signer-cert, --signer-key and --signer-pin go with --signer-url")
	case r.URL == "":
		return nil, nil //nolint:nilnil // no signer in another process
	}

	address, ok := hostPort(r.URL)
	if !ok {
		return nil, fmt.Errorf("--signer-url: %q is no address such as tls://signer.internal:7000", r.URL)
	}
	config, err := pinned.TLS(r.Cert, r.Key, r.Pin)
	if err != nil {
		return nil, fmt.Errorf("--signer-cert, --signer-key, --signer-pin: %w", err)
	}
	return &remote.Address{TCP: address, TLS: config}, nil
}

// hostPort returns the HOST:PORT of a signer's URL.
func hostPort(url string) (address string, ok bool) {
	address, ok = strings.CutPrefix(url, scheme)
	host, port, err := net.SplitHostPort(address)
	return address, ok && err == nil && host != "" && port != ""
}
