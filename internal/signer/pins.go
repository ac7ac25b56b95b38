package signer

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"

	"github.com/go-json-experiment/json"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/disk"
)

// pinsName is the file of the pins: one line, in the form of a line of the record.
const pinsName = "pins.json"

// Pins are the facts about its exchange that a signer keeps across restarts. No setting changes them.
type Pins struct {
	// Exchange is the exchange's id. It is zero until the first hello, for a sandbox whose id was left out.
	Exchange ExchangeID `json:"exchange"`
	Sandbox  bool       `json:"sandbox"`
	// Incarnation and Term are the highest epoch.
	Incarnation bourse.Incarnation `json:"incarnation"`
	Term        uint64             `json:"term"`
	// Numbers are those of the networks in the record.
	Numbers map[bourse.Symbol]bourse.NetworkID `json:"networks,omitempty"`
	// Allowed are the allow-listed destinations, with the time when each was first seen.
	Allowed []allowed `json:"allowed,omitempty"`
}

// allowed is an allow-listed destination of a network.
type allowed struct {
	Network bourse.NetworkID `json:"network"`
	Address string           `json:"address"`
	Memo    string           `json:"memo,omitempty"`
	// Since is in microseconds since 1970.
	Since int64 `json:"since"`
}

// ExchangeID is an exchange's id.
type ExchangeID [16]byte

// MarshalText writes lower-case hex digits.
func (d ExchangeID) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText reads exactly as many hex digits as an id has.
func (d *ExchangeID) UnmarshalText(b []byte) error { return unhex(d[:], b, "the id of an exchange") }

func (p *Pins) exchange() Exchange { return Exchange{p.Exchange, p.Sandbox} }

func (p *Pins) epoch() Epoch { return Epoch{p.Incarnation, p.Term} }

// Create pins a signer to an exchange and an epoch. The exchange's id may be zero for a
// sandbox, whose first hello then fills it in.
func Create(d disk.Disk, x Exchange, at Epoch) error {
	if x.ID == (ExchangeID{}) && !x.Sandbox {
		return errors.New("a signer of real money is made for one exchange, by its id")
	}
	_, err := ReadPins(d)
	if err == nil {
		return fmt.Errorf("%s is there already", pinsName)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return writePins(d, &Pins{Exchange: x.ID, Sandbox: x.Sandbox, Incarnation: at.Incarnation, Term: at.Term})
}

// ReadPins reads the pins. The error is fs.ErrNotExist if there are none.
func ReadPins(d disk.Disk) (p Pins, err error) {
	b, err := disk.ReadFile(d, pinsName)
	if err != nil {
		return p, err
	}
	text, ok := unseal(bytes.TrimSuffix(b, []byte("\n")))
	if !ok || json.Unmarshal(text, &p, json.RejectUnknownMembers(true)) != nil {
		return p, fmt.Errorf("%s is damaged", pinsName)
	}
	return p, nil
}

func writePins(d disk.Disk, p *Pins) error {
	text, err := json.Marshal(p, json.Deterministic(true))
	if err != nil {
		return err
	}
	return disk.Replace(d, pinsName, pinsName+".tmp", seal(text))
}

// Number gives each network its number in the record, which it keeps.
func Number(d disk.Disk, names []bourse.Symbol) (map[bourse.Symbol]bourse.NetworkID, error) {
	p, err := ReadPins(d)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, known := p.Numbers[name]; !known {
			if p.Numbers == nil {
				p.Numbers = map[bourse.Symbol]bourse.NetworkID{}
			}
			p.Numbers[name] = bourse.NetworkID(len(p.Numbers) + 1)
		}
	}
	return p.Numbers, writePins(d, &p)
}

// openPins reads the pins, or makes those of an exchange that signs itself.
func openPins(d disk.Disk, o *Options) (Pins, error) {
	p, err := ReadPins(d)
	switch {
	case errors.Is(err, fs.ErrNotExist) && o.New:
		p = Pins{Exchange: o.Exchange.ID, Sandbox: o.Exchange.Sandbox, Incarnation: 1}
		return p, writePins(d, &p)
	case err != nil:
		return p, err
	case o.New && p.exchange() != o.Exchange:
		return p, ErrExchange
	}
	return p, nil
}

// pin makes pins durable. The caller holds mu. A failed write leaves the old ones in force.
func (s *Local) pin(p *Pins) error {
	if err := writePins(s.disk, p); err != nil {
		err = fmt.Errorf("signer: %w", err)
		if errors.Is(err, disk.ErrSync) {
			s.broken = err
		}
		return err
	}
	s.pins = *p
	return nil
}

// allowedAfter is the age from which an allow-listed destination counts.
const allowedAfter = bourse.Day

// seeAllowed notes the allow-listed destinations of the settings, each with the time when it
// was first seen, and forgets those that are gone: a destination that comes back is new.
func (s *Local) seeAllowed() error {
	since := map[allowed]int64{}
	for _, a := range s.pins.Allowed {
		since[allowed{Network: a.Network, Address: a.Address, Memo: a.Memo}] = a.Since
	}
	pins, changed := s.pins, false
	pins.Allowed = nil
	for _, name := range sortedNames(s.numbers) {
		id := s.numbers[name]
		for _, to := range s.networks[id].Allowed {
			a := allowed{Network: id, Address: to.Address, Memo: to.Memo}
			seen, known := since[a]
			if !known {
				seen, changed = int64(s.clock()), true
			}
			delete(since, a)
			a.Since = seen
			pins.Allowed = append(pins.Allowed, a)
		}
	}
	if !changed && len(since) == 0 {
		return nil
	}
	return s.pin(&pins)
}

// isAllowed reports whether a destination has been on the allow-list for a day.
func (s *Local) isAllowed(network bourse.NetworkID, to chain.Destination, now int64) bool {
	for _, a := range s.pins.Allowed {
		if a.Network == network && a.Address == to.Address && a.Memo == to.Memo {
			return a.Since <= now-int64(allowedAfter)
		}
	}
	return false
}
