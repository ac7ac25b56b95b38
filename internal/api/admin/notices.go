package admin

import (
	"context"
	"fmt"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/notice"
)

// noticeAnswer shows a notice to operators.
type noticeAnswer struct {
	ID      notice.ID `json:"id"`
	Kind    string    `json:"kind"`
	Title   string    `json:"title"`
	Body    string    `json:"body"`
	Created int64     `json:"created"`
	Ended   int64     `json:"ended,omitzero"`
}

func describeNotice(n *notice.Notice) noticeAnswer {
	return noticeAnswer{n.ID, n.Kind.String(), n.Title, n.Body, n.Created.Seconds(), n.Ended.Seconds()}
}

type noticeAddArgs struct {
	Kind  string `json:"kind"`
	Title string `json:"title"`
	Body  string `json:"body"`
}

// noticeAdd publishes a notice. The journal has a note of its title, and who published it.
func (s *Server) noticeAdd(ctx context.Context, a noticeAddArgs) (any, error) {
	kind, known := notice.ParseKind(a.Kind)
	if !known {
		return nil, bourse.Errorf(bourse.CodeInvalid, "unknown kind %q", a.Kind)
	}
	if err := s.Notices.Check(kind, a.Title, a.Body); err != nil {
		return nil, err
	}
	if err := s.note(ctx, fmt.Sprintf("notice add %s %q", kind, strings.TrimSpace(a.Title))); err != nil {
		return nil, err
	}
	n, err := s.Notices.Add(ctx, kind, a.Title, a.Body)
	return describeNotice(&n), err
}

type noticeListArgs struct {
	// Before is the id of the last notice seen; zero for the newest.
	Before notice.ID `json:"before"`
}

// noticeList lists live and ended notices, newest first.
func (s *Server) noticeList(ctx context.Context, a noticeListArgs) (any, error) {
	const page = 50
	list, err := s.Notices.All(ctx, a.Before, page)
	if err != nil {
		return nil, err
	}

	rows := make([]noticeAnswer, len(list))
	for i := range list {
		rows[i] = describeNotice(&list[i])
	}
	return struct {
		Notices []noticeAnswer `json:"notices"`
	}{rows}, nil
}

type noticeEndArgs struct {
	ID notice.ID `json:"id"`
}

// noticeEnd withdraws a notice.
func (s *Server) noticeEnd(ctx context.Context, a noticeEndArgs) (any, error) {
	if err := s.note(ctx, fmt.Sprintf("notice end %d", a.ID)); err != nil {
		return nil, err
	}
	n, err := s.Notices.End(ctx, a.ID)
	return describeNotice(&n), err
}
