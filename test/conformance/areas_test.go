package conformance

// allChecks has the checks of all areas.
var allChecks = [][]check{
	transportChecks, codingChecks, requestChecks, numberChecks, timeChecks, listChecks, keyChecks,
	marketsChecks, orderbookChecks, tradesChecks, candlesChecks, agedChecks, limitedChecks, ordersChecks,
	placeChecks, moneyChecks, executionChecks, stopsChecks, takeProfitChecks, selfChecks, namesChecks, rejectionsChecks,
	cancelChecks, amendChecks, replaceChecks, batchChecks, ocoChecks, silenceChecks, extrasChecks, feesChecks, tierChecks, infoChecks,
	operationsChecks, streamsChecks, resumeChecks, slowChecks, ownChecks, ownMoneyChecks, consistencyChecks,
	walletRequestsChecks, walletKeyChecks, walletAssetsChecks, walletTransactionsChecks, walletDepositsChecks,
	walletWithdrawalsChecks, walletLifeChecks, walletAddressbookChecks, walletOffChecks, walletFactorChecks, walletGiveChecks, walletRESTChecks,
	restChecks, peopleChecks, browserChecks, account1Checks, signedChecks, pacedChecks, webChecks, exportChecks,
}
