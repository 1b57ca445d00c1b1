package oracle

import (
	"github.com/holiman/uint256"
)

// Bounds of Uniswap V3 prices: ticks, and the square roots of prices they stand
// for, times 2^96.
const (
	minTick int32 = -887272
	maxTick int32 = 887272
)

var (
	minSqrtRatio = uint256.NewInt(4295128739)
	maxSqrtRatio = uint256.MustFromDecimal("1461446703485210103287273052203988822378723970342")

	one        = uint256.NewInt(1)
	q32        = new(uint256.Int).Lsh(one, 32)
	q96        = new(uint256.Int).Lsh(one, 96)
	maxUint160 = new(uint256.Int).Sub(new(uint256.Int).Lsh(one, 160), one)
	maxUint256 = new(uint256.Int).Not(new(uint256.Int))
)

// ratios[i] is 1.0001^(-2^i/2) times 2^128: what bit i of a tick multiplies
// by.
var ratios = [20]*uint256.Int{
	uint256.MustFromHex("0xfffcb933bd6fad37aa2d162d1a594001"),
	uint256.MustFromHex("0xfff97272373d413259a46990580e213a"),
	uint256.MustFromHex("0xfff2e50f5f656932ef12357cf3c7fdcc"),
	uint256.MustFromHex("0xffe5caca7e10e4e61c3624eaa0941cd0"),
	uint256.MustFromHex("0xffcb9843d60f6159c9db58835c926644"),
	uint256.MustFromHex("0xff973b41fa98c081472e6896dfb254c0"),
	uint256.MustFromHex("0xff2ea16466c96a3843ec78b326b52861"),
	uint256.MustFromHex("0xfe5dee046a99a2a811c461f1969c3053"),
	uint256.MustFromHex("0xfcbe86c7900a88aedcffc83b479aa3a4"),
	uint256.MustFromHex("0xf987a7253ac413176f2b074cf7815e54"),
	uint256.MustFromHex("0xf3392b0822b70005940c7a398e4b70f3"),
	uint256.MustFromHex("0xe7159475a2c29b7443b29c7fa6e889d9"),
	uint256.MustFromHex("0xd097f3bdfd2022b8845ad8f792aa5825"),
	uint256.MustFromHex("0xa9f746462d870fdf8a65dc1f90e061e5"),
	uint256.MustFromHex("0x70d869a156d2a1b890bb3df62baf32f7"),
	uint256.MustFromHex("0x31be135f97d08fd981231505542fcfa6"),
	uint256.MustFromHex("0x9aa508b5b7a84e1c677de54f3e99bc9"),
	uint256.MustFromHex("0x5d6af8dedb81196699c329225ee604"),
	uint256.MustFromHex("0x2216e584f5fa1ea926041bedfe98"),
	uint256.MustFromHex("0x48a170391f7dc42444e8fa2"),
}

// sqrtRatioAtTick returns 1.0001^(tick/2) times 2^96, rounded as the pools round
// it. The tick is in bounds.
func sqrtRatioAtTick(tick int32) uint256.Int {
	distance := tick
	if tick < 0 {
		distance = -tick
	}
	ratio := *new(uint256.Int).Lsh(one, 128)
	for i, factor := range ratios {
		if distance>>i&1 != 0 {
			ratio.Mul(&ratio, factor)
			ratio.Rsh(&ratio, 128)
		}
	}
	if tick > 0 {
		ratio.Div(maxUint256, &ratio)
	}
	var rest uint256.Int
	ratio.DivMod(&ratio, q32, &rest)
	if !rest.IsZero() {
		ratio.AddUint64(&ratio, 1)
	}
	return ratio
}

// tickAtSqrtRatio returns the largest tick in [lo, hi] whose ratio is at most
// price. That of lo is.
func tickAtSqrtRatio(price *uint256.Int, lo, hi int32) int32 {
	for lo < hi {
		middle := lo + (hi-lo+1)/2
		if ratio := sqrtRatioAtTick(middle); ratio.Gt(price) {
			hi = middle - 1
		} else {
			lo = middle
		}
	}
	return lo
}
