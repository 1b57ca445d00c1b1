package chain

import (
	"context"

	"github.com/ethereum/go-ethereum/core/tracing"

	"github.com/subnet112/assay/intent"
)

// ExecuteTraced is Execute under a tracer.
func (w *World) ExecuteTraced(ctx context.Context, o Order, p intent.Plan, hooks *tracing.Hooks) (*Outcome, *View, error) {
	return w.execute(ctx, &o, p, hooks)
}
