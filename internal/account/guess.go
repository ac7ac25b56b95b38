package account

// try is a mailed code sent back by a client.
type try struct {
	purpose Purpose
	subject string
	visit   Visit
	// known is set if the account has a log-in from this source.
	known bool
}

// tryMailed checks a mailed code within the quotas and calls do with the right one. A
// source that asked for a code tries its own code, which ends after maxWrong wrong tries.
// Any other source tries all codes of the subject and ends none; its tries count against
// the subject. So no client can end another client's code. judge is called once the try
// is allowed. The errors are ErrVerification, *bourse.Errors with CodeBusy, and those of
// the functions.
func (s *Service) tryMailed(t try, judge func() (func(*Code) bool, error), do func(*Code) error) error {
	source, own := t.visit.source(), false
	for _, c := range s.shared.CodesOf(t.purpose, t.subject, s.now()) {
		own = own || c.Source == source && !c.Ended()
	}
	back, err := s.guess(&t, own)
	if err != nil {
		return err
	}

	good, err := judge()
	if err != nil {
		back()
		return err
	}
	pick := func(c *Code) bool { return !own || c.Source == source }
	c, verdict := s.shared.TryCode(t.purpose, t.subject, pick, good, s.now())
	if verdict != Right {
		return ErrVerification
	}
	back()
	return do(&c)
}

// guess counts a try before it is judged; back returns the counts after a right one.
// Beyond the limit of all sources, an unknown source may try only the code that it asked
// for, and only while its network has sent no wrong one within a day: guessers pay, and
// known sources lose nothing.
func (s *Service) guess(t *try, own bool) (back func(), err error) {
	now, source := s.now(), t.visit.source()
	from := network(source).String()
	strict := !t.known && s.shared.Wait(codesInAll, "", now) > 0
	if strict && !own {
		return nil, s.exhausted(spending{codesInAll, ""}, errTooMany)
	}
	spent := []spending{{codesBySource, source.String()}}
	if !own {
		spent = append(spent, spending{codesBySubject, t.subject})
	}
	if err := s.spend(spent...); err != nil {
		return nil, err
	}

	clean := t.known || s.shared.Take(codesByNetwork, from, now)
	if clean && !t.known {
		spent = append(spent, spending{codesByNetwork, from})
	}
	if !t.known && s.shared.Take(codesInAll, "", now) {
		spent = append(spent, spending{codesInAll, ""})
	}
	back = func() {
		for _, one := range spent {
			s.shared.Back(one.quota, one.name)
		}
	}
	if strict && !clean {
		back()
		return nil, s.exhausted(spending{codesByNetwork, from}, errTooMany)
	}
	return back, nil
}

// text returns a judge of the code's text alone.
func text(given string) func() (func(*Code) bool, error) {
	return func() (func(*Code) bool, error) { return is(given), nil }
}
