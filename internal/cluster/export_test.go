package cluster

// MostStrangers is the bound of connections whose node is not proven.
const MostStrangers = mostStrangers

// Queued returns the size of the messages that wait, in bytes.
func (t *Transport) Queued() (n int) {
	for _, l := range t.links {
		l.mu.Lock()
		n += l.bytes
		l.mu.Unlock()
	}
	return n
}

// Connected reports whether messages to a node are queued. Without a connection they are dropped.
func (t *Transport) Connected(node uint64) bool {
	l := t.links[node]
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.up
}
