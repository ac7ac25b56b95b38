package binance

// Len returns the number of listen keys.
func (l *ListenKeys) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.byHash)
}
