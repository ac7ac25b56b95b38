package account

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
)

// Party is what passkeys are bound to: a domain name, and the web origins whose pages may
// use them. Both are settings. Immutable.
type Party struct {
	id      string
	origins []string
	web     *webauthn.WebAuthn
}

// NewParty returns the party of a domain name and of one origin at least. An origin is exact,
// like https://trade.example.com:8443, and of the domain or below it. Plain http is for
// localhost alone.
func NewParty(id string, origins ...string) (*Party, error) {
	if err := protocol.ValidateRPID(id); err != nil || id != strings.ToLower(id) || strings.ContainsAny(id, "/:@ ") {
		return nil, fmt.Errorf("%q is no domain name such as example.com, in lower case", id)
	}
	for _, origin := range origins {
		if err := checkOrigin(id, origin); err != nil {
			return nil, fmt.Errorf("%q is no origin such as https://%s: %w", origin, id, err)
		}
	}

	web, err := webauthn.New(&webauthn.Config{
		RPID: id, RPOrigins: origins,
		// Clients may send outputs of extensions that were not requested. They are ignored.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
	if err != nil {
		return nil, fmt.Errorf("passkeys of %s: %w", id, err)
	}
	return &Party{id, slices.Clone(origins), web}, nil
}

// Origins returns the origins whose pages may use passkeys; none of no party.
func (p *Party) Origins() []string {
	if p == nil {
		return nil
	}
	return slices.Clone(p.origins)
}

func checkOrigin(id, origin string) error {
	u, err := url.Parse(origin)
	if err != nil {
		return errors.New("it is no URL")
	}
	host := u.Hostname()
	local := host == "localhost" || strings.HasSuffix(host, ".localhost")

	switch {
	case u.Scheme != "https" && (u.Scheme != "http" || !local):
		return errors.New("it must be https, or http of localhost")
	case origin != u.Scheme+"://"+u.Host || host != strings.ToLower(host):
		return errors.New("it must be scheme, name in lower case, and port")
	case net.ParseIP(host) != nil || host != id && !strings.HasSuffix(host, "."+id):
		return errors.New("its name must be the domain's, or below it")
	case u.Scheme == "https" && u.Port() == "443" || u.Scheme == "http" && u.Port() == "80":
		return errors.New("browsers leave the usual port out")
	}
	return nil
}

// SetParty lets people register and use passkeys. Call it before requests are served, once the
// origins are known. Without a party there are none.
func (s *Service) SetParty(p *Party) { s.party = p }
