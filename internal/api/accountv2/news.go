package accountv2

import (
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
)

// newsFields are the ways of telling.
var newsFields = api.Fields{"page", "mail"}

// news writes which news the account wants.
func (a *Account) news(c *v2.Call) error {
	writeTelling(c, a.Accounts.Telling(c.Who.Account))
	return nil
}

// setNews sets which news the account wants; a way that is absent stays as it is.
func (a *Account) setNews(c *v2.Call) error {
	wishes := a.Accounts.Telling(c.Who.Account)
	for _, way := range []struct {
		name string
		news *account.News
	}{{"page", &wishes.Page}, {"mail", &wishes.Mail}} {
		if !c.Has(way.name) {
			continue
		}
		given, err := account.ParseNews(c.Texts(way.name, len(account.NewsWords)))
		if err != nil {
			c.Fail(api.Invalid(way.name, err.Error()))
		}
		*way.news = given
	}
	if err := c.Err(); err != nil {
		return err
	}

	if err := a.Accounts.SetTelling(c.Context, c.Who.Account, wishes); err != nil {
		return err
	}
	writeTelling(c, wishes)
	return nil
}

func writeTelling(c *v2.Call, wishes account.Telling) {
	for _, way := range []struct {
		name string
		news account.News
	}{{"page", wishes.Page}, {"mail", wishes.Mail}} {
		c.Out.Name(way.name)
		c.Out.Array()
		for _, word := range way.news.Words() {
			c.Out.String(word)
		}
		c.Out.EndArray()
	}
}
