package chain

import (
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/params/forks"
)

// ErrForkRules means that this build does not know the rules a snapshot asks
// for: another chain, an older fork than it replays, or a newer one than it was
// built with.
var ErrForkRules = errors.New("unknown fork rules")

// A network is a chain whose history of forks this build knows.
type network struct {
	id     uint64
	prefix string
	config *params.ChainConfig
}

// networks is a list, not a map, so that looking something up never depends on
// map order.
var networks = []network{
	{id: 1, prefix: "mainnet", config: params.MainnetChainConfig},
}

// forkNames are the forks whose execution is covered by tests. Forks that only
// change blob parameters change nothing that a stored context does not carry, so
// they go by the name of the fork they amend. A fork missing here is refused even
// where the library knows it: raising the rules is a decision, not an upgrade.
var forkNames = []struct {
	first, last forks.Fork
	name        string
}{
	{forks.Cancun, forks.Cancun, "cancun"},
	{forks.Prague, forks.Prague, "prague"},
	{forks.Osaka, forks.BPO5, "osaka"},
}

// ForkRulesAt returns the fork rules id ("mainnet/cancun") that a block of the
// chain with this id and timestamp (unix seconds) executes under. The error is
// [ErrForkRules].
func ForkRulesAt(chainID, time uint64) (string, error) {
	id, _, err := rulesAt(chainID, time)
	return id, err
}

func rulesAt(chainID, time uint64) (string, *params.ChainConfig, error) {
	for _, n := range networks {
		if n.id != chainID {
			continue
		}
		fork := n.config.LatestFork(time)
		for _, f := range forkNames {
			if fork >= f.first && fork <= f.last {
				return n.prefix + "/" + f.name, n.config, nil
			}
		}
		return "", nil, fmt.Errorf("%w: chain %d at time %d (%s)", ErrForkRules, chainID, time, fork)
	}
	return "", nil, fmt.Errorf("%w: chain %d", ErrForkRules, chainID)
}

// chainConfig returns the configuration for an id that was stored beside a
// chain id and a time, and refuses an id that the time contradicts.
func chainConfig(id string, chainID, time uint64) (*params.ChainConfig, error) {
	want, config, err := rulesAt(chainID, time)
	if err != nil {
		return nil, err
	}
	if id != want {
		return nil, fmt.Errorf("%w: %q, but chain %d at time %d is %q", ErrForkRules, clip(id), chainID, time, want)
	}
	return config, nil
}

// precompiles lists the precompiled contracts active in a context, ascending.
func precompiles(config *params.ChainConfig, c Context) []common.Address {
	list := append([]common.Address(nil), vm.ActivePrecompiles(config.Rules(c.number(), true, c.Time))...)
	sortAddresses(list)
	return list
}

// clip bounds text of a file before it reaches an error message.
func clip(s string) string {
	const limit = 64
	if len(s) > limit {
		return s[:limit] + "…"
	}
	return s
}
