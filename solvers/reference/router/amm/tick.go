package amm

import "github.com/holiman/uint256"

// MaxTick is the highest tick of a pool; -MaxTick is the lowest.
const MaxTick = 887272

// roots are 2^128 / √1.0001^(2^i).
var roots = func() [20]uint256.Int {
	var out [20]uint256.Int
	for i, s := range []string{
		"0xfffcb933bd6fad37aa2d162d1a594001", "0xfff97272373d413259a46990580e213a", "0xfff2e50f5f656932ef12357cf3c7fdcc",
		"0xffe5caca7e10e4e61c3624eaa0941cd0", "0xffcb9843d60f6159c9db58835c926644", "0xff973b41fa98c081472e6896dfb254c0",
		"0xff2ea16466c96a3843ec78b326b52861", "0xfe5dee046a99a2a811c461f1969c3053", "0xfcbe86c7900a88aedcffc83b479aa3a4",
		"0xf987a7253ac413176f2b074cf7815e54", "0xf3392b0822b70005940c7a398e4b70f3", "0xe7159475a2c29b7443b29c7fa6e889d9",
		"0xd097f3bdfd2022b8845ad8f792aa5825", "0xa9f746462d870fdf8a65dc1f90e061e5", "0x70d869a156d2a1b890bb3df62baf32f7",
		"0x31be135f97d08fd981231505542fcfa6", "0x9aa508b5b7a84e1c677de54f3e99bc9", "0x5d6af8dedb81196699c329225ee604",
		"0x2216e584f5fa1ea926041bedfe98", "0x48a170391f7dc42444e8fa2",
	} {
		out[i] = *uint256.MustFromHex(s)
	}
	return out
}()

// SqrtAt is √1.0001^tick · 2^96, rounded up.
func SqrtAt(tick int32) uint256.Int {
	distance := tick
	if distance < 0 {
		distance = -distance
	}
	ratio := *new(uint256.Int).Lsh(uint256.NewInt(1), 128)
	for i := range roots {
		if distance>>i&1 == 1 {
			ratio.Mul(&ratio, &roots[i])
			ratio.Rsh(&ratio, 128)
		}
	}
	if tick > 0 {
		ratio.Div(new(uint256.Int).SetAllOne(), &ratio)
	}
	up := ratio[0] & 0xffffffff
	ratio.Rsh(&ratio, 32)
	if up != 0 {
		ratio.AddUint64(&ratio, 1)
	}
	return ratio
}
