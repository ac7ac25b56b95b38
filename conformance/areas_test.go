package conformance

// allChecks lists the checks of all areas, for the passes over all of them.
var allChecks = [][]check{
	transportChecks, requestChecks, numberChecks, timeChecks, listChecks, keyChecks,
}
