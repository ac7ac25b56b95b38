package codes

// List describes all codes, in the order of docs/errors.md.
var List = []Entry{
	{Code: MissingData, Meaning: "A required field is absent. The sentence names it.", Next: "Send the field."},
	{
		Code:    ValidationError,
		Meaning: "The request or a field is malformed, or out of its range. The sentence names the field.",
		Next:    "Correct the request; the same one fails again.",
	},
	{
		Code:    Unauthorized,
		Meaning: "A key is needed, and the request has none. On a stream: the connection has not sent `auth`.",
		Next:    "Send a key.",
	},
	{
		Code:    InvalidKey,
		Meaning: "The key is unknown, revoked or expired, or not for this address. V1's sentence is `Unauthorized`.",
		Next:    "Use another key. Do not repeat: bad keys have a limit of their own.",
	},
	{
		Code:    InvalidSignature,
		Meaning: "The key is known, and its signature does not fit the request as it arrived.",
		Next:    "Compare the signed text with the example of `/docs/signing`; the exchange's id is in `/spot/config`.",
	},
	{
		Code: RequestExpired,
		Meaning: "The timestamp of a signed request is outside its window, more than a second ahead, or, for a request " +
			"that changes something, from before the exchange's last start.",
		Next: "Compare the clock with `/spot/time`, and sign again with a new timestamp.",
	},
	{
		Code:    RequestRepeated,
		Meaning: "A signed request that changes something was taken before; a copy of it has no effect.",
		Next:    "To repeat it safely, sign again with the same `client_id` or `Idempotency-Key`.",
	},
	{
		Code:    Forbidden,
		Meaning: "The key lacks a scope, the thing is another account's, or an operator has disabled it.",
		Next:    "Use a key with the scope that the sentence names.",
	},
	{
		Code: AlreadyLoggedIn, Meaning: "The request is for clients without a key.",
		Next: "Send it without the key.",
	},
	{
		Code: TermsNotAccepted, Meaning: "A page asks for something that needs the current terms, which the account has not accepted.",
		Next: "Show the terms; `POST /web/terms` accepts them.",
	},
	{Code: LoginFailed, Meaning: "The e-mail address, the password or the passkey is wrong.", Next: "Ask the user again."},
	{Code: WrongPassword, Meaning: "The account's password is wrong.", Next: "Ask the user again."},
	{
		Code: InvalidVerificationCode, Meaning: "The code from a letter or a picture is wrong or was used.",
		Next: "Ask the user again, or ask for another code.",
	},
	{
		Code:    Require2FA,
		Meaning: "A second factor has to confirm the request. V1's sentence and V2's `msg` say where it is.",
		Next:    "Repeat the request unchanged, with the code in `code_2fa` (V1) or `code2FA` (V2), or with a passkey's answer in `assertion2FA` (V2).",
	},
	{
		Code: Invalid2FA, Meaning: "The code of the second factor, or the passkey's answer, is wrong.",
		Next: "Ask the user again; five wrong codes end a challenge.",
	},
	{Code: AlreadyConfigured, Meaning: "The second factor is in use already.", Next: "Nothing."},
	{Code: NotConfigured, Meaning: "The second factor is not prepared, or passkeys are not set up.", Next: "Prepare it with `PUT` first."},
	{Code: InvalidEndpoint, Meaning: "The path is no endpoint.", Next: "Compare the path with the descriptions."},
	{Code: MethodNotAllowed, Meaning: "The method cannot be used here.", Next: "Use one of the header `Allow`."},
	{
		Code: NotFound, Meaning: "The named thing does not exist, or not for this account. The sentence names it.",
		Next: "Correct the name.",
	},
	{
		Code: Conflict, Meaning: "A name is taken, or an `Idempotency-Key` stands for another request.",
		Next: "Choose another name or key.",
	},
	{
		Code: NotAcceptable, Meaning: "The request is well formed, and refused for what the sentence says.",
		Next: "Read the sentence.",
	},
	{Code: LimitOutOfRange, Meaning: "`limit` is above 500.", Next: "Ask for less, and for further pages."},

	{
		Code: "INSUF_FUNDS", Meaning: "Less is available than the order or withdrawal must hold.",
		Next: "Ask for less, or cancel orders first.", InV2: InsufBalance,
	},
	{
		Code: "INSUF_TRADE_AMOUNT", Meaning: "The order is worth less than the market's `min_order`.",
		Next: "Order more.",
	},
	{Code: "MARKET_CLOSED", Meaning: "The market takes no orders now.", Next: "Try again later; cancels work."},
	{Code: "MARKET_HALTED", Meaning: "The market takes no cancels now.", Next: "Try again later."},
	{
		Code: "TOO_MANY_ORDERS", Meaning: "The account has the most open orders of a market.",
		Next: "Cancel some first.",
	},
	{
		Code: "DUPLICATE_CLIENT_ID", Meaning: "The `client_id` stands for a request with other fields.",
		Next: "Use a new `client_id`. The same one with the same fields answers the first outcome.",
	},
	{Code: "WOULD_TAKE", Meaning: "A post-only order would trade at once.", Next: "Place it at a worse price."},
	{
		Code: "PRICE_OUT_OF_RANGE", Meaning: "The price is beyond the market's greatest or its band.",
		Next: "Choose a price nearer to the last one.",
	},
	{
		Code: "ACCOUNT_FROZEN", Meaning: "An operator has frozen the account.",
		Next: "Ask the operator; cancels work.", InV2: AccountInactive,
	},
	{
		Code: "OVERFLOW", Meaning: "A total is too large to be counted.", Next: "Ask for less.",
		InV2: AmountOutOfRange,
	},
	{
		Code: "NO_COLLAR", Meaning: "A BUY behind a stop without a price: the market has no collar to bound its cost.",
		Next: "Give `total` in place of `amount`, or a price.",
	}, {
		Code: "TRADE_LIMIT", Meaning: "The account's tier lets it give no more of the asset in trades now.",
		Next: "Ask for less, cancel orders, or wait; `/account/v2/tier` tells what is left.",
	},

	{
		Code: "ORDER_NOT_FOUND", Meaning: "The order is unknown, another account's, or done: V1 does not tell which.",
		Next: "Ask `/spot/order` what became of it.", InV2: NotFound,
	},
	{
		Code: "NOTHING_LEFT", Meaning: "The order has traded the amended amount, or more.",
		Next: "Amend it to more than `filled`, or cancel it.",
	},
	{
		Code: "NOT_AMENDABLE", Meaning: "The order's type names no price.",
		Next: "Replace it.",
	},
	{
		Code:    "LIST_NOT_FOUND",
		Meaning: "The list of orders is unknown or another account's; for a cancel, none of its orders is open.",
		Next:    "Ask `/spot/order_lists` what became of it.", InV2: NotFound,
	},
	{
		Code: "BELOW_MIN_WITHDRAWAL", Meaning: "The amount is below the network's least.",
		Next: "Withdraw more.", InV2: AmountOutOfRange,
	},
	{
		Code: FeeOutOfRange, Meaning: "The fee is not within the network's terms.",
		Next: "Read the terms of the withdrawal again.",
	},
	{
		Code: "NOT_ON_NETWORK", Meaning: "The network does not carry the asset.",
		Next: "Choose one of the asset's networks.", InV2: InvalidNetwork,
	},
	{
		Code: "BAD_PRECISION", Meaning: "Amount or fee have more decimals than the network moves.",
		Next: "Use at most the network's `prec`.",
	},
	{
		Code: "MEMO_NOT_ALLOWED", Meaning: "The network has no memos.", Next: "Send no memo.",
		InV2: InvalidAddress,
	},
	{
		Code: "UNKNOWN_ACCOUNT", Meaning: "The account that would receive does not exist.",
		Next: "Correct the address.", InV2: InvalidAddress,
	},
	{
		Code: "WITHDRAWALS_CLOSED", Meaning: "The asset or the network takes no withdrawals.",
		Next: "Try again later, or another network.", InV2: Forbidden,
	},
	{
		Code: "TOO_MANY_WITHDRAWALS", Meaning: "The account has the most open withdrawals.",
		Next: "Wait for one to end.",
	}, {
		Code: "WITHDRAWAL_LIMIT", Meaning: "The account's tier lets it withdraw no more of the asset now.",
		Next: "Withdraw less, or wait; `/account/v2/tier` tells what is left.",
	},

	{
		Code: "TOO_MANY", Meaning: "There can be no more of these: addresses, keys, accounts.",
		Next: "Remove some first.",
	},
	{
		Code: "ADDRESS_TAKEN", Meaning: "The address is saved under another name.",
		Next: "Use that name, or none.", InV2: Conflict,
	},
	{
		Code: "DUPLICATE_REQUEST", Meaning: "The key of idempotency stands for another request.",
		Next: "Use a new key.", InV2: Conflict,
	},
	{
		Code: "WITHDRAWAL_NOT_FOUND", Meaning: "The withdrawal is unknown, or another account's.",
		Next: "Read the list of transactions.", InV2: NotFound,
	},
	{
		Code: "WITHDRAWAL_SIGNED", Meaning: "The withdrawal is signed: no cancel stops it.",
		Next: "Wait for DONE.", InV2: AlreadySent,
	},
	{Code: AlreadyCanceled, Meaning: "The withdrawal is canceled already.", Next: "Nothing."},
	{
		Code: AlreadyDone, Meaning: "The withdrawal was settled inside the exchange.", Next: "Nothing.",
		InV2: MethodNotAllowed,
	},
	{
		Code: "VOIDED", Meaning: "The operator has voided the command: it had no effect.",
		Next: "Ask the operator.",
	},

	{Code: AccountInactive, Meaning: "V2's word for ACCOUNT_FROZEN.", Next: "As there."},
	{Code: InsufBalance, Meaning: "V2's word for INSUF_FUNDS.", Next: "As there."},
	{Code: AmountOutOfRange, Meaning: "V2's word for BELOW_MIN_WITHDRAWAL and OVERFLOW.", Next: "As there."},
	{Code: InvalidNetwork, Meaning: "V2's word for NOT_ON_NETWORK.", Next: "As there."},
	{
		Code: InvalidAddress, Meaning: "Money cannot go to the address or memo, as the sentence says.",
		Next: "Correct the address.",
	},
	{Code: AlreadySent, Meaning: "V2's word for WITHDRAWAL_SIGNED.", Next: "As there."},

	{
		Code: RateLimit, Meaning: "A limit or a queue is full; nothing was taken.",
		Next: "Repeat after the seconds of `Retry-After`; `/spot/limits` lists the limits.",
	},
	{
		Code: HistoryBehind, Meaning: "The history does not have yet what must be read.",
		Next: "Repeat in a second.", InV2: RateLimit,
	},
	{
		Code: DiskFull, Meaning: "The exchange's disk is nearly full; the request had no effect.",
		Next: "Try again later. Cancels are taken longest.", InV2: InternalServerError,
	},
	{
		Code: Unavailable, Meaning: "A part of the exchange does not answer; the request had no effect.",
		Next: "Repeat after some seconds.", InV2: InternalServerError,
	},
	{
		Code:    Timeout,
		Meaning: "The exchange took too long. A command may have been taken or not: `Outcome unknown`.",
		Next: "Look what became of it (`/spot/order`, the list of transactions), or repeat it with the same " +
			"`client_id` or `Idempotency-Key`. Without one of them do not repeat it.",
	},
	{
		Code: InternalServerError, Meaning: "A fault of the exchange; the operator's log has the cause.",
		Next: "Repeat after some seconds, a command as after TIMEOUT.",
	},
}
