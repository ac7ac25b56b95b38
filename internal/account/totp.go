package account

import (
	"crypto/subtle"
	"encoding/binary"
	"fmt"

	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"

	"github.com/bourse-exchange/bourse"
)

const (
	// totpPeriod is the life of an authenticator application's code.
	totpPeriod = 30 * bourse.Second
	// totpSkew is the tolerated clock error, in time steps.
	totpSkew = 1
)

// newTOTP draws a secret and returns it sealed, with the key for the application.
func (s *Service) newTOTP(row *AccountRow) ([]byte, TOTPKey, error) {
	key, err := totp.Generate(totp.GenerateOpts{
		Issuer: s.Issuer, AccountName: row.Email, Period: uint(totpPeriod / bourse.Second), Rand: s.Random,
	})
	if err != nil {
		return nil, TOTPKey{}, fmt.Errorf("drawing a secret: %w", err)
	}
	sealed, err := s.Seal.Seal(s.Random, factorOf(row.ID), []byte(key.Secret()))
	return sealed, TOTPKey{Secret(key.URL()), Secret(key.Secret())}, err
}

// totpStep returns the time step of a code, within totpSkew of now; false if the code is
// wrong or used.
func (s *Service) totpStep(row *AccountRow, text string) (int64, bool, error) {
	secret, err := s.Seal.Open(factorOf(row.ID), row.TOTP)
	if err != nil {
		return 0, false, err
	}
	now := int64(s.now() / totpPeriod)
	for step := now - totpSkew; step <= now+totpSkew; step++ {
		want, err := hotp.GenerateCode(string(secret), uint64(step))
		if err != nil {
			return 0, false, fmt.Errorf("computing a code: %w", err)
		}
		if subtle.ConstantTimeCompare([]byte(want), []byte(text)) == 1 && step > row.TOTPStep {
			return step, true, nil
		}
	}
	return 0, false, nil
}

// factorOf returns the place that an account's TOTP secret is sealed for.
func factorOf(id bourse.AccountID) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(id)) }
