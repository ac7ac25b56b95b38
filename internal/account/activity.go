package account

import (
	"context"
	"strings"

	"github.com/bourse-exchange/bourse"
)

// The bounds of the activity log: enough to trace a theft, and no longer than that takes,
// because entries hold people's IP addresses.
const (
	mostActivities = 9_000
	// mostFailures bounds the failed attempts of an account, which strangers make, apart from its other
	// entries.
	mostFailures = 1_000
	activityFor  = 90 * bourse.Day
	// mostOfNobody bounds the entries of account 0, which stand for addresses without an
	// account. They are written so that a failed log-in costs the same with and without
	// an account.
	mostOfNobody = 100
)

// log writes an activity. The action has already happened, so only the operator hears of
// a failed write.
func (s *Service) log(ctx context.Context, id bourse.AccountID, kind string, v Visit, detail string) {
	a := &Activity{
		Account: id, Time: s.now(), Kind: kind, Agent: v.agent(), Address: v.address(), Detail: detail,
	}
	most := mostActivities
	switch {
	case id == 0:
		most = mostOfNobody
	case a.Failed():
		most = mostFailures
	}
	if err := s.Store.AddActivity(context.WithoutCancel(ctx), a, most, a.Time-activityFor); err != nil {
		s.OnFailure("an activity was not noted", err)
	}
}

// Failed reports whether an activity is a failed attempt to log in, or at a second factor.
func (a *Activity) Failed() bool { return a.Kind == failedLogIn || a.Kind == failedSecondFactor }

// maxAgent bounds the kept part of a client's User-Agent, in bytes.
const maxAgent = 256

// address returns the client's address; empty for an operator.
func (v Visit) address() string {
	if !v.From.IsValid() {
		return ""
	}
	return v.From.Unmap().WithZone("").String()
}

func (v Visit) agent() string {
	return strings.ToValidUTF8(v.Agent[:min(len(v.Agent), maxAgent)], "")
}

// Activity returns an account's activities, newest first: at most limit entries with ids
// below before, or the newest if before is zero.
func (s *Service) Activity(ctx context.Context, id bourse.AccountID, before uint64, limit int) ([]Activity, error) {
	return s.Store.ActivityOf(ctx, id, before, limit)
}
