package chain_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/go-cmp/cmp"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

func TestNewOrder(t *testing.T) {
	t.Parallel()
	list := func(a ...common.Address) []common.Address { return a }
	grant := func(token common.Address, n uint64) chain.Grant {
		return chain.Grant{Token: token, Amount: uint256.NewInt(n)}
	}
	swap := func(change func(*intent.Definition, *intent.State)) (intent.Definition, intent.State) {
		d := intent.Definition{AppID: "toy"}
		s := intent.State{ChainID: 1, Owner: toyOwner.Hex(), RawParams: map[string]any{
			"input_token": toyToken.Hex(), "input_amount": "300", "output_token": toyVyper.Hex(),
		}}
		change(&d, &s)
		return d, s
	}
	base := chain.Order{
		App: "toy", Owner: toyOwner, ChainID: 1, MaxGas: 5_000_000,
		Grant: []chain.Grant{grant(toyToken, 300)}, Watch: list(toyOwner), Tokens: list(chain.ETH, toyToken, toyVyper),
	}
	for _, tt := range []struct {
		name   string
		change func(*intent.Definition, *intent.State)
		want   func(*chain.Order)
	}{
		{"a swap", func(*intent.Definition, *intent.State) {}, func(*chain.Order) {}},
		{"the app's own gas", func(d *intent.Definition, _ *intent.State) { d.Config.MaxGas = 7 }, func(o *chain.Order) { o.MaxGas = 7 }},
		{"a receiver is watched", func(_ *intent.Definition, s *intent.State) { s.RawParams["receiver"] = toyReceiver.Hex() },
			func(o *chain.Order) { o.Watch = list(toyOwner, toyReceiver) }},
		{"the owner as receiver is watched once", func(_ *intent.Definition, s *intent.State) { s.RawParams["receiver"] = toyOwner.Hex() }, func(*chain.Order) {}},
		{"the zero address receives nothing", func(_ *intent.Definition, s *intent.State) { s.RawParams["receiver"] = chain.ETH.Hex() }, func(*chain.Order) {}},
		{"a contract is watched", func(_ *intent.Definition, s *intent.State) { s.ContractAddress = toyStore.Hex() },
			func(o *chain.Order) { o.Contract, o.Watch = toyStore, list(toyOwner, toyStore) }},
		{"the zero contract is none", func(_ *intent.Definition, s *intent.State) { s.ContractAddress = chain.ETH.Hex() }, func(*chain.Order) {}},
		{"an address may be in capitals", func(_ *intent.Definition, s *intent.State) { s.Owner = "0x" + strings.ToUpper(toyOwner.Hex()[2:]) }, func(*chain.Order) {}},
		{"_fund wins over the input", func(_ *intent.Definition, s *intent.State) {
			s.Control = map[string]any{"_fund": map[string]any{toyProxy.Hex(): "5", chain.ETH.Hex(): "6"}}
		}, func(o *chain.Order) {
			o.Grant, o.Tokens = []chain.Grant{grant(chain.ETH, 6), grant(toyProxy, 5)}, list(chain.ETH, toyToken, toyVyper, toyProxy)
		}},
		{"an empty _fund does not", func(_ *intent.Definition, s *intent.State) { s.Control = map[string]any{"_fund": map[string]any{}} }, func(*chain.Order) {}},
		{"a null _fund does not", func(_ *intent.Definition, s *intent.State) { s.Control = map[string]any{"_fund": nil} }, func(*chain.Order) {}},
		{"ETH as input", func(_ *intent.Definition, s *intent.State) { s.RawParams["input_token"] = chain.ETH.Hex() },
			func(o *chain.Order) {
				o.Grant, o.Tokens = []chain.Grant{grant(chain.ETH, 300)}, list(chain.ETH, toyVyper)
			}},
		{"no input is no grant", func(_ *intent.Definition, s *intent.State) { s.RawParams = nil },
			func(o *chain.Order) { o.Grant, o.Tokens = nil, list(chain.ETH) }},
		{"the value rule's token and account are measured", func(d *intent.Definition, s *intent.State) {
			d.Manifest = &intent.Manifest{Value: &intent.ValueRule{Token: "asset", Account: "vault"}}
			s.RawParams["asset"], s.RawParams["vault"] = toyFlag.Hex(), toyPoor.Hex()
		}, func(o *chain.Order) {
			o.Watch, o.Tokens = list(toyOwner, toyPoor), list(chain.ETH, toyToken, toyVyper, toyFlag)
		}},
		{"the value rule's account may be the owner", func(d *intent.Definition, _ *intent.State) {
			d.Manifest = &intent.Manifest{Value: &intent.ValueRule{Token: "output_token", Account: "owner"}}
		}, func(*chain.Order) {}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := base
			tt.want(&want)
			d, s := swap(tt.change)
			got, err := chain.NewOrder(d, s)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewOrderRefuses(t *testing.T) {
	t.Parallel()
	fund := func(v any) func(*intent.Definition, *intent.State) {
		return func(_ *intent.Definition, s *intent.State) { s.Control = map[string]any{"_fund": v} }
	}
	param := func(key string, v any) func(*intent.Definition, *intent.State) {
		return func(_ *intent.Definition, s *intent.State) { s.RawParams[key] = v }
	}
	rule := func(r intent.ValueRule) func(*intent.Definition, *intent.State) {
		return func(d *intent.Definition, _ *intent.State) { d.Manifest = &intent.Manifest{Value: &r} }
	}
	for _, tt := range []struct {
		name   string
		change func(*intent.Definition, *intent.State)
		want   string // of the reason
	}{
		{"no owner", func(_ *intent.Definition, s *intent.State) { s.Owner = "" }, `owner: "" is not 0x and 40 hex digits`},
		{"the zero owner", func(_ *intent.Definition, s *intent.State) { s.Owner = chain.ETH.Hex() }, "owner: the zero address owns nothing"},
		{"a contract that is no address", func(_ *intent.Definition, s *intent.State) { s.ContractAddress = "0x12" }, `contract_address: "0x12" is not 0x and 40 hex digits`},
		{"a number as amount", param("input_amount", 300.0), "raw_params.input_token, input_amount: amount of " + toyToken.Hex() + ": not a decimal string"},
		{"a negative amount", param("input_amount", "-1"), "raw_params.input_token, input_amount: amount of " + toyToken.Hex() + ": " + intent.ErrAmount.Error()},
		{"an input token without an amount", param("input_amount", nil), "raw_params.input_token, input_amount: amount of " + toyToken.Hex() + ": not a decimal string"},
		{"an amount of nothing", param("input_token", nil), "raw_params.input_token: not an address"},
		{"an output token with terminal escapes", param("output_token", "\x1b[2J"), `raw_params.output_token: "\x1b[2J" is not 0x and 40 hex digits`},
		{"a receiver that is no text", param("receiver", true), "raw_params.receiver: not an address"},
		{"a fund that is a list", fund([]any{}), "control._fund: not an object of token: amount"},
		{"a fund of no address", fund(map[string]any{"WETH": "1"}), `control._fund: "WETH" is not 0x and 40 hex digits`},
		{"a token funded twice, in two spellings", fund(map[string]any{"0x00000000000000000000000000000000000000aA": "1", "0x00000000000000000000000000000000000000Aa": "1"}),
			"control._fund: 0x00000000000000000000000000000000000000AA twice"},
		{"a value in a token that is not there", rule(intent.ValueRule{Token: "asset", Account: "owner"}), "raw_params.asset: absent, but the value is measured in it"},
		{"a value for an account that is not there", rule(intent.ValueRule{Token: "output_token", Account: "receiver"}),
			"raw_params.receiver: absent or zero, but the value is what it receives"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := intent.Definition{AppID: "toy"}
			s := intent.State{ChainID: 1, Owner: toyOwner.Hex(), RawParams: map[string]any{
				"input_token": toyToken.Hex(), "input_amount": "300", "output_token": toyVyper.Hex(),
			}}
			tt.change(&d, &s)
			_, err := chain.NewOrder(d, s)
			var fault *intent.AppFault
			if !errors.As(err, &fault) || fault.AppID != "toy" {
				t.Fatalf("error = %v, want an app fault of toy", err)
			}
			if fault.Err.Error() != tt.want {
				t.Errorf("reason\n got %s\nwant %s", fault.Err, tt.want)
			}
		})
	}
}
