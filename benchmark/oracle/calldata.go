package oracle

import (
	"encoding/binary"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"
)

// toRouter is what SwapRouter02 takes for itself as a recipient.
var toRouter = common.Address{19: 2}

// functions are those of the contracts that plans call.
var functions = func() abi.ABI {
	const list = `[
	{"type":"function","name":"approve","inputs":[{"name":"spender","type":"address"},{"name":"amount","type":"uint256"}]},
	{"type":"function","name":"transfer","inputs":[{"name":"to","type":"address"},{"name":"amount","type":"uint256"}]},
	{"type":"function","name":"deposit","inputs":[]},
	{"type":"function","name":"withdraw","inputs":[{"name":"amount","type":"uint256"}]},
	{"type":"function","name":"pull","inputs":[{"name":"token","type":"address"},{"name":"amount","type":"uint256"}]},
	{"type":"function","name":"unwrapWETH9","inputs":[{"name":"minimum","type":"uint256"},{"name":"to","type":"address"}]},
	{"type":"function","name":"multicall","inputs":[{"name":"data","type":"bytes[]"}]},
	{"type":"function","name":"swapExactTokensForTokens","inputs":[{"name":"amountIn","type":"uint256"},
		{"name":"amountOutMin","type":"uint256"},{"name":"path","type":"address[]"},{"name":"to","type":"address"}]},
	{"type":"function","name":"exactInput","inputs":[{"name":"params","type":"tuple","components":[
		{"name":"path","type":"bytes"},{"name":"recipient","type":"address"},
		{"name":"amountIn","type":"uint256"},{"name":"amountOutMinimum","type":"uint256"}]}]}]`
	parsed, err := abi.JSON(strings.NewReader(list))
	if err != nil {
		panic(err) // the list above is no JSON ABI
	}
	return parsed
}()

// encode encodes a call of one of functions.
func encode(name string, args ...any) []byte {
	data, err := functions.Pack(name, args...)
	if err != nil {
		panic(err) // the arguments are not those of the list above
	}
	return data
}

// exactInput is the argument of the function of that name.
type exactInput struct {
	Path             []byte
	Recipient        common.Address
	AmountIn         *big.Int
	AmountOutMinimum *big.Int
}

// routerCalls are the calls of the router that send an amount along a path to a
// recipient: one for each run of hops of one protocol. Between them the tokens
// lie with the router, and an amount of 0 means whatever does.
func (o *Oracle) routerCalls(p path, amount *uint256.Int, recipient common.Address) [][]byte {
	var calls [][]byte
	in := amount.ToBig()
	for i := 0; i < len(p); {
		n := 1
		isV3 := o.pools[p[i].pool].v3 != nil
		for i+n < len(p) && (o.pools[p[i+n].pool].v3 != nil) == isV3 {
			n++
		}
		to := toRouter
		if i+n == len(p) {
			to = recipient
		}
		if isV3 {
			calls = append(calls, encode("exactInput", exactInput{o.v3Path(p[i : i+n]), to, in, new(big.Int)}))
		} else {
			calls = append(calls, encode("swapExactTokensForTokens", in, new(big.Int), o.v2Path(p[i:i+n]), to))
		}
		i, in = i+n, new(big.Int)
	}
	return calls
}

func (o *Oracle) v2Path(hops path) []common.Address {
	tokens := []common.Address{o.in(hops[0])}
	for _, h := range hops {
		tokens = append(tokens, o.out(h))
	}
	return tokens
}

// v3Path packs tokens of 20 bytes with fees of 3 between them.
func (o *Oracle) v3Path(hops path) []byte {
	first := o.in(hops[0])
	packed := append([]byte{}, first[:]...)
	for _, h := range hops {
		fee := binary.BigEndian.AppendUint32(nil, uint32(o.pools[h.pool].v3.fee))
		to := o.out(h)
		packed = append(append(packed, fee[1:]...), to[:]...)
	}
	return packed
}
