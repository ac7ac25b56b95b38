package sqlite

import "os"

// writeRange leaves the writing to the following sync: this system has no call for a part
// of a file.
func writeRange(*os.File, int64, int64) error { return nil }
