package oracle

import (
	"context"
	"fmt"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

// Open opens the oracle of the venues that a market snapshot names. Errors are those
// of [Venues] and [New].
func Open(ctx context.Context, w *chain.World, m intent.MarketSnapshot) (*Oracle, error) {
	venues, routers, err := Venues(m)
	if err != nil {
		return nil, err
	}
	return New(ctx, w, venues, routers)
}

// Credit is what a pack has as best of an intent: base units, or what the app's
// scorer counts in. It is empty, for no cap, where no plan reaches the minimum and
// where a trigger is known not to be due: declining is worth 1, whatever a plan
// would be. truth is nil where the intent has no trigger. Errors are those of
// [Oracle.Best].
func (o *Oracle) Credit(ctx context.Context, d intent.Definition, s intent.State, truth *bool) (string, error) {
	if truth != nil && !*truth {
		return "", nil
	}
	a, err := o.Best(ctx, d, s)
	if err != nil {
		return "", fmt.Errorf("best of %s, nonce %d: %w", d.AppID, s.Nonce, err)
	}
	if a.Value == nil {
		return "", nil
	}
	return a.Value.String(), nil
}
