package node

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/webhook"
)

// deliverWithin bounds a delivery to a webhook.
const deliverWithin = 10 * time.Second

// openWebhooks reads the webhooks.
func (n *Node) openWebhooks(ctx context.Context) (err error) {
	seal, err := n.accountsSeal()
	if err != nil {
		return err
	}
	n.webhooks, err = webhook.Open(ctx, webhook.Options{
		Store: n.keep, Bulletins: n.store, Head: n.sequencer.Applied, MayAct: n.mayAct, Seal: seal,
		Rules:  webhook.Rules{Plain: n.Sandbox != nil, Private: n.Sandbox != nil || n.WebhookPrivate},
		Random: rand.Reader, Clock: time.Now, After: time.After, Patience: deliverWithin, Log: n.Log,
	})
	if err != nil {
		return fmt.Errorf("%s: %w", n.accountsPlace(), err)
	}
	return nil
}

// carryBulletins delivers to the webhooks until ctx ends.
func (n *Node) carryBulletins(ctx context.Context) error {
	n.webhooks.Run(ctx)
	return nil
}

// heralding is a history store that tells of new bulletins.
type heralding struct {
	history.Store
	wake func()
}

// heralded returns the history's store. A standby's store, which delivers nothing, has no listener.
func (n *Node) heralded() history.Store {
	if n.webhooks == nil {
		return n.store
	}
	return heralding{n.store, n.webhooks.Wake}
}

// Write adds a batch.
func (h heralding) Write(ctx context.Context, b *history.Batch) error {
	err := h.Store.Write(ctx, b)
	if err == nil && len(b.Bulletins) > 0 {
		h.wake()
	}
	return err
}

// ofWebhooks returns the collectors of the webhooks.
func (n *Node) ofWebhooks() []prometheus.Collector {
	counter := func(name, help string, f func() uint64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(f()) })
	}
	return []prometheus.Collector{
		counter("bourse_webhook_deliveries_total", "Deliveries that webhooks took.", func() uint64 {
			delivered, _ := n.webhooks.Counts()
			return delivered
		}),
		counter("bourse_webhook_failures_total", "Tries that webhooks did not take.", func() uint64 {
			_, failures := n.webhooks.Counts()
			return failures
		}),
		gauge("bourse_webhook_lag_seconds", "Age of the oldest event that a webhook is being told of.", func() float64 {
			lag, _ := n.webhooks.Lag()
			return (time.Duration(lag) * time.Microsecond).Seconds()
		}),
		gauge("bourse_webhooks_disabled", "Webhooks that are told nothing until an operator enables them.", func() float64 {
			_, disabled := n.webhooks.Lag()
			return float64(disabled)
		}),
	}
}
