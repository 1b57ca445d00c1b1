package oracle

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

// Protocols of venues.
const (
	UniswapV2 = "uniswap_v2"
	UniswapV3 = "uniswap_v3"
)

// A Venue is a pool of two tokens.
type Venue struct {
	Protocol string // UniswapV2 or UniswapV3
	Address  common.Address
}

// Routers are the contracts that plans go through.
type Routers struct {
	WETH         common.Address
	SwapRouter02 common.Address // trades on both protocols
	V2Factory    common.Address // of the pairs the router knows
	V3Factory    common.Address // of the pools the router knows
}

// Venues reads from a market snapshot where there is to trade and through what:
// pool_states, whose protocols other than Uniswap's are left out, and dex_config.
// The venues are sorted by address.
func Venues(m intent.MarketSnapshot) ([]Venue, Routers, error) {
	r, err := routers(m.DexConfig)
	if err != nil {
		return nil, Routers{}, fmt.Errorf("dex_config: %w", err)
	}
	var venues []Venue
	for _, key := range slices.Sorted(maps.Keys(m.PoolStates)) {
		address, err := chain.ParseAddress(key)
		if err != nil {
			return nil, Routers{}, fmt.Errorf("pool_states: %w", err)
		}
		switch protocol, _ := m.PoolStates[key]["protocol"].(string); protocol {
		case UniswapV2, UniswapV3:
			venues = append(venues, Venue{protocol, address})
		}
	}
	slices.SortFunc(venues, func(a, b Venue) int { return a.Address.Cmp(b.Address) })
	return venues, r, nil
}

func routers(config map[string]any) (r Routers, err error) {
	for _, field := range []struct {
		group, key string
		to         *common.Address
	}{
		{"", "weth", &r.WETH},
		{"uniswap_v3", "swap_router_02", &r.SwapRouter02},
		{"uniswap_v2", "factory", &r.V2Factory},
		{"uniswap_v3", "factory", &r.V3Factory},
	} {
		group, name := config, field.key
		if field.group != "" {
			group, _ = config[field.group].(map[string]any)
			name = field.group + "." + field.key
		}
		text, ok := group[field.key].(string)
		if !ok {
			return r, fmt.Errorf("%s: no address", name)
		}
		if *field.to, err = chain.ParseAddress(text); err != nil {
			return r, fmt.Errorf("%s: %w", name, err)
		}
	}
	return r, nil
}
