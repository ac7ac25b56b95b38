package accounts

import (
	"context"
	"database/sql"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// SetTelling stores which news an account wants.
func (s *Store) SetTelling(ctx context.Context, id bourse.AccountID, wishes account.Telling) error {
	const put = `INSERT INTO tellings (account, page, mail) VALUES ($1, $2, $3)
		ON CONFLICT (account) DO UPDATE SET page = excluded.page, mail = excluded.mail`
	return s.exec(ctx, put, int64(id), strings.Join(wishes.Page.Words(), ","), strings.Join(wishes.Mail.Words(), ","))
}

// Tellings passes the wishes of every account that has said any to yield. A word that this
// program does not know is no wish.
func (s *Store) Tellings(ctx context.Context, yield func(bourse.AccountID, account.Telling) error) error {
	return s.each(ctx, `SELECT account, page, mail FROM tellings`, nil, func(r *sql.Rows) error {
		var id int64
		var page, mail string
		if err := r.Scan(&id, &page, &mail); err != nil {
			return s.db.Wrap(err)
		}
		return yield(bourse.AccountID(id), account.Telling{Page: readNews(page), Mail: readNews(mail)})
	})
}

func readNews(text string) (all account.News) {
	for word := range strings.SplitSeq(text, ",") {
		known, _ := account.ParseNews([]string{word}) // none for an unknown one
		all |= known
	}
	return all
}
