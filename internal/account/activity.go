package account

import (
	"context"
	"strings"

	"github.com/bourse-exchange/bourse"
)

// The bounds of what is kept of activities: enough to see what a thief did, and
// addresses of people no longer than that takes.
const (
	mostActivities = 10_000
	activityFor    = 90 * bourse.Day
	// mostOfNobody is for what happened to addresses without an account, which is
	// written so that it costs what it costs with one.
	mostOfNobody = 100
)

// log notes an activity. What happened has happened: that it is not noted is told
// to the operator alone.
func (s *Service) log(ctx context.Context, id bourse.AccountID, kind string, v Visit, detail string) {
	a := &Activity{Account: id, Time: s.now(), Kind: kind, Agent: v.agent(), Detail: detail}
	if v.From.IsValid() { // an operator comes from nowhere
		a.Address = v.From.Unmap().WithZone("").String()
	}
	most := mostActivities
	if id == 0 {
		most = mostOfNobody
	}
	if err := s.Store.AddActivity(context.WithoutCancel(ctx), a, most, a.Time-activityFor); err != nil {
		s.OnFailure("an activity was not noted", err)
	}
}

// maxAgent is how much is kept of what a client says it is, in bytes.
const maxAgent = 256

func (v Visit) agent() string {
	return strings.ToValidUTF8(v.Agent[:min(len(v.Agent), maxAgent)], "")
}

// Activity returns what happened to an account, newest first: entries with ids
// below before, or from the newest on if it is zero, no more than limit.
func (s *Service) Activity(ctx context.Context, id bourse.AccountID, before uint64, limit int) ([]Activity, error) {
	return s.Store.ActivityOf(ctx, id, before, limit)
}
