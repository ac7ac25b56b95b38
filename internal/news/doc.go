// Package news mails holders what happened to their money: fills, deposits and withdrawals.
//
// A [Desk] observes commands behind the engine, and gathers the news of each account that wants
// letters of them; Step sends what is due, one letter for all news of an account. News are kept
// in memory alone: a restart forgets those of the last minutes, which the account's lists have.
//
// Invariants: between two letters of an account lies at least Options.Every, whatever others do;
// the memory of an account is bounded; a replay causes no letter.
//
// Not here: what an account wants and the letter's frame (account), the news of pages, which
// follow the account's streams (web/src/app).
package news
