// Package news mails holders the events of their money: fills, deposits and withdrawals.
//
// A [Desk] observes commands behind the engine, and gathers the news of each account that wants
// letters of them; Step sends the letters that are due, one for all news of an account. News are
// kept in memory alone: a restart forgets the last minutes' news, which the account's lists have.
//
// Invariants: between two letters of an account lies at least Options.Every, whatever others do;
// the memory of an account is bounded; a replay causes no letter.
//
// Not here: an account's choice of news and the letter's frame (account), the news of pages,
// which follow the account's streams (web/src/app).
package news
