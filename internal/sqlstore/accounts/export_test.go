package accounts

// Beside returns a store of another process on the same database.
func Beside(s *Store) *Store { return &Store{db: s.db, fence: fence{share: s.share}} }

// SelectLike is the query of AccountsLike.
const SelectLike = selectLike

// LastActivities is the query of [Store.LastActivities].
var LastActivities = lastActivities

// NewestLogIns is the query of [Store.LogIns], and TrimActivity the one of [Store.AddActivity].
const (
	NewestLogIns = newestLogIns
	TrimActivity = trimActivity
)
