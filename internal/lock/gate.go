package lock

import "context"

// Gate is a mutex whose waiters give up when their context ends.
type Gate struct{ held chan struct{} }

// NewGate returns an unlocked gate.
func NewGate() Gate { return Gate{make(chan struct{}, 1)} }

// Lock locks the gate. If the context ends before, it returns the context's error.
func (g Gate) Lock(ctx context.Context) error {
	select {
	case g.held <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Unlock unlocks the gate, which must be locked.
func (g Gate) Unlock() { <-g.held }
