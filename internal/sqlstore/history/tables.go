package history

import "github.com/bourse-exchange/bourse/internal/sqlstore"

// table is a table and its Inserter.
type table struct {
	insert *sqlstore.Inserter
	sqlstore.Table
}

// tables returns the tables that a batch writes, with their columns in the order of the
// values.
func (i *inserts) tables() [10]table {

	return [...]table{
		{&i.orders, sqlstore.Table{Name: "orders", Columns: []string{
			"account", "ordinal", "id", "market", "side", "type", "tif", "selftrade", "postonly", "price", "stop",
			"lots", "total_hi", "total_lo", "client_id", "status", "triggered", "amended", "list", "time", "filled",
			"prevented", "seq", "closed",
		}}},
		{&i.trades, sqlstore.Table{Name: "trades", Columns: []string{
			"market", "number", "seq", "time", "taker_side", "price", "lots", "total_hi", "total_lo",
		}}},
		{&i.fills, sqlstore.Table{Name: "fills", Columns: []string{
			"account", "ordinal", "order_id", "market", "trade", "seq", "time", "side", "role", "price", "lots", "total_hi",
			"total_lo", "fee_hi", "fee_lo",
		}}},
		{&i.transfers, sqlstore.Table{Name: "transfers", Columns: []string{
			"account", "seq", "place", "time", "kind", "from_account", "to_account", "asset", "amount_hi", "amount_lo",
		}}},
		{&i.notes, sqlstore.Table{Name: "notes", Columns: []string{"seq", "time", "operator", "text"}}},
		{&i.amendments, sqlstore.Table{Name: "amendments", Columns: []string{
			"account", "order_id", "seq", "time", "from_price", "from_lots", "to_price", "to_lots",
		}}},
		{&i.movements, sqlstore.Table{Name: "movements", Key: 2, Columns: []string{
			"account", "ordinal", "id", "seq", "kind", "network", "asset", "amount_hi", "amount_lo", "fee_hi", "fee_lo",
			"status", "address", "memo", "tx", "mined", "height", "target", "other", "refunded", "created", "done",
			"party", "message",
		}}},
		{&i.entries, sqlstore.Table{Name: "entries", Columns: []string{
			"account", "asset", "seq", "place", "time", "kind", "debit", "amount_hi", "amount_lo", "balance_hi",
			"balance_lo", "market", "trade", "order_id", "movement",
		}}},
		{&i.bulletins, sqlstore.Table{Name: "bulletins", Columns: []string{"seq", "place", "time", "kind", "data"}}},
		{&i.candles, sqlstore.Table{Name: "candles", Key: 3, Columns: []string{
			"market", "width", "start", "open", "high", "low", "close", "volume_hi", "volume_lo", "value_hi",
			"value_lo", "bought_hi", "bought_lo", "spent_hi", "spent_lo", "first", "last",
		}}},
	}
}
