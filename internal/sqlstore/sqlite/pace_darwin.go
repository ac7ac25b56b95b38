package sqlite

import "os"

// writeRange leaves all of the writing to the sync that follows: this system has no call
// for a part of a file.
func writeRange(*os.File, int64, int64) error { return nil }
