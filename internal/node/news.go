package node

import (
	"context"
	"log/slog"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/news"
)

// The times of letters with news: how long news wait for more of them, and the least time between
// two letters of an account. A sandbox, where people look at its letters, is quicker.
const (
	newsGather, newsEvery               = bourse.Minute, 15 * bourse.Minute
	newsGatherSandbox, newsEverySandbox = bourse.Second, 10 * bourse.Second
	newsStep                            = time.Second
)

// newNews returns the desk of news.
func (n *Node) newNews() *news.Desk {
	o := news.Options{
		Wants:  func(id bourse.AccountID) account.News { return n.accounts.Telling(id).Mail },
		Wanted: n.accounts.MailsNews, Latest: n.view.Latest, Send: n.accounts.MailNews,
		OnFailure: func(err error) { n.Log.Warn("a letter with news was not sent", slog.Any("error", err)) },
		Gather:    newsGather, Every: newsEvery,
	}
	if n.Sandbox != nil {
		o.Gather, o.Every = newsGatherSandbox, newsEverySandbox
	}
	return news.New(o)
}

// mailNews sends the letters with news that are due.
func (n *Node) mailNews(ctx context.Context) error {
	return every(ctx, newsStep, func() { n.newsDesk.Step(ctx, n.clock.Now()) })
}
