package binance_test

import "strconv"

func number(n uint64) string { return strconv.FormatUint(n, 10) }
