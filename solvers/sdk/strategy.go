package sdk

import (
	"slices"

	"github.com/subnet112/assay/intent"
)

// A Strategy plans for the intents of one app. A [RoutingSolver] asks the one whose
// app an intent is of. Like a [Solver] it may also be a [Quoter], a [TriggerChecker],
// a [MarketReceiver], a [BenchmarkStarter], a [BenchmarkEnder] and a [StateKeeper];
// results it hears of are those of its own plans. No method needs to be safe for
// concurrent use.
type Strategy interface {
	// AppID is the app it plans for, always the same and not empty.
	AppID() string
	// IntentFunctions are those of the app's functions that it plans for; none means
	// all.
	IntentFunctions() []string
	// Initialize is called once, before any other method but these two. After an
	// error the strategy is left out, and the solver goes on.
	Initialize(intent.InitConfig) error
	// GeneratePlan answers one intent of its app. After an error the intent has the
	// fallback plan.
	GeneratePlan(intent.Request) (intent.Plan, error)
}

// Accepts reports whether a strategy plans for a function of an app. An intent that
// names no function is any strategy's of its app.
func Accepts(s Strategy, appID, function string) bool {
	functions := s.IntentFunctions()
	return appID == s.AppID() && (function == "" || len(functions) == 0 || slices.Contains(functions, function))
}

// FunctionOf is the name of the app's function that an intent calls: what its typed
// context says, or else its control; "" if neither does.
func FunctionOf(s intent.State) string {
	switch c := s.TypedContext.(type) {
	case map[string]any:
		if name, _ := c["intent_function"].(string); name != "" {
			return name
		}
	case intent.SwapContext:
		return c.IntentFunction
	case intent.TwapContext:
		return c.IntentFunction
	case intent.RebalanceContext:
		return c.IntentFunction
	case intent.BaseContext:
		return c.IntentFunction
	}
	name, _ := s.Control["_intent_function"].(string)
	return name
}
