package oracle_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/subnet112/assay/benchmark/oracle"
	"github.com/subnet112/assay/intent"
)

// market returns a copy of the fixture's.
func market(t *testing.T, edit func(*intent.MarketSnapshot)) intent.MarketSnapshot {
	t.Helper()
	text, err := json.Marshal(pack().Chains[0].Market)
	if err != nil {
		t.Fatal(err)
	}
	var m intent.MarketSnapshot
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	edit(&m)
	return m
}

func TestVenues(t *testing.T) {
	m := market(t, func(m *intent.MarketSnapshot) {
		m.PoolStates[quoter.Hex()] = map[string]any{"protocol": "curve"}
		m.PoolStates[v2Router.Hex()] = map[string]any{}
	})
	venues, routers, err := oracle.Venues(m)
	if err != nil {
		t.Fatal(err)
	}
	if want := len(m.PoolStates) - 2; len(venues) != want {
		t.Errorf("%d venues, want %d: all but those of protocols the oracle does not know", len(venues), want)
	}
	if !slices.IsSortedFunc(venues, func(a, b oracle.Venue) int { return a.Address.Cmp(b.Address) }) {
		t.Error("the venues are not sorted by address")
	}
	for _, v := range venues {
		if m.PoolStates[v.Address.Hex()]["protocol"] != v.Protocol {
			t.Errorf("%s is a venue of %s", v.Address, v.Protocol)
		}
	}
	if routers.WETH != weth {
		t.Errorf("the wrapped coin is %s, want %s", routers.WETH, weth)
	}
}

func TestMarketsWithoutRouters(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(*intent.MarketSnapshot)
		want string
	}{
		{"no wrapped coin", func(m *intent.MarketSnapshot) { delete(m.DexConfig, "weth") }, "dex_config: weth: no address"},
		{"no V3 contracts", func(m *intent.MarketSnapshot) { delete(m.DexConfig, "uniswap_v3") }, "dex_config: uniswap_v3.swap_router_02: no address"},
		{"a factory that is no address", func(m *intent.MarketSnapshot) {
			m.DexConfig["uniswap_v2"].(map[string]any)["factory"] = "0x12"
		}, "dex_config: uniswap_v2.factory: "},
		{"a pool that is no address", func(m *intent.MarketSnapshot) { m.PoolStates["pool"] = map[string]any{} }, "pool_states: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := oracle.Venues(market(t, tt.edit))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("Venues() = %v, want %s", err, tt.want)
			}
		})
	}
}

// A venue that is not what the market says, or that the router would not find,
// makes no oracle.
func TestVenuesThatAreNone(t *testing.T) {
	m := pack().Chains[0].Market
	venues, routers, err := oracle.Venues(m)
	if err != nil {
		t.Fatal(err)
	}
	var pair common.Address
	for _, key := range slices.Sorted(maps.Keys(m.PoolStates)) {
		if m.PoolStates[key]["protocol"] == oracle.UniswapV2 {
			pair = common.HexToAddress(key)
		}
	}
	for _, tt := range []struct {
		name  string
		venue oracle.Venue
		edit  func(*oracle.Routers)
	}{
		{"a token", oracle.Venue{Protocol: oracle.UniswapV2, Address: weth}, func(*oracle.Routers) {}},
		{"a pair as a V3 pool", oracle.Venue{Protocol: oracle.UniswapV3, Address: pair}, func(*oracle.Routers) {}},
		{"another protocol", oracle.Venue{Protocol: "curve", Address: pair}, func(*oracle.Routers) {}},
		{"a pair of another factory", oracle.Venue{Protocol: oracle.UniswapV2, Address: pair}, func(r *oracle.Routers) { r.V2Factory = quoter }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := routers
			tt.edit(&r)
			if _, err := oracle.New(t.Context(), world(), append(slices.Clone(venues[:1]), tt.venue), r); err == nil {
				t.Error("an oracle was made")
			}
		})
	}
}
