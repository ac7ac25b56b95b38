package feed

// Kept returns the size of the recent messages of all lines, in bytes.
func (f *Feed) Kept() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.lines {
		for i := range l.recent {
			n += len(l.recent[i].bytes)
		}
	}
	return n
}
