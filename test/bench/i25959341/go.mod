module github.com/bourse-exchange/bourse/bench/i25959341

go 1.26.0

require github.com/i25959341/orderbook v0.0.0

require (
	github.com/emirpasic/gods v1.18.1 // indirect
	github.com/shopspring/decimal v1.4.0
)
