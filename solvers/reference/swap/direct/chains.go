package direct

import "github.com/subnet112/assay/solvers/sdk/abi"

// A deployment is where the venues of one chain are.
type deployment struct {
	wrapped   abi.Address // wrapped native token
	v2Factory abi.Address
	v2Router  abi.Address
	v3Factory abi.Address
	v3Quoter  abi.Address // QuoterV2
	v3Router  abi.Address // SwapRouter02
}

var deployments = map[uint64]deployment{
	1: {
		wrapped:   abi.MustAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"),
		v2Factory: abi.MustAddress("0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f"),
		v2Router:  abi.MustAddress("0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D"),
		v3Factory: abi.MustAddress("0x1F98431c8aD98523631AE4a59f267346ea31F984"),
		v3Quoter:  abi.MustAddress("0x61fFE014bA17989E743c5F6cB21bF9697530B21e"),
		v3Router:  abi.MustAddress("0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45"),
	},
}

// A venue is one pool of a pair, named by its fee in hundredths of a basis
// point; a V2 pair, whose fee is fixed, is 0.
type venue uint32

const v2 venue = 0

// venues in the order in which equal prices are preferred: fewer reads of
// state and less gas first.
var venues = []venue{100, 500, 3000, 10000, v2}

// protocol returns the venue's name.
func (v venue) protocol() string {
	if v == v2 {
		return "uniswap-v2"
	}
	return "uniswap-v3"
}

// gas is what a swap through the venue takes at most in ordinary pools, with an
// approval before it.
func (v venue) gas() uint64 {
	if v == v2 {
		return 180_000
	}
	return 220_000
}

// Selectors of the calls made here, with their signatures.
var (
	selGetPair = abi.Selector{0xe6, 0xa4, 0x39, 0x05} // getPair(address,address)
	selGetPool = abi.Selector{0x16, 0x98, 0xee, 0x82} // getPool(address,address,uint24)

	selGetAmountsOut    = abi.Selector{0xd0, 0x6c, 0xa6, 0x1f} // getAmountsOut(uint256,address[])
	selQuoteExactSingle = abi.Selector{0xc6, 0xa5, 0x02, 0x6a} // quoteExactInputSingle((address,address,uint256,uint24,uint160))

	selAllowance = abi.Selector{0xdd, 0x62, 0xed, 0x3e} // allowance(address,address)
	selApprove   = abi.Selector{0x09, 0x5e, 0xa7, 0xb3} // approve(address,uint256)
	selTransfer  = abi.Selector{0xa9, 0x05, 0x9c, 0xbb} // transfer(address,uint256)
	selDeposit   = abi.Selector{0xd0, 0xe3, 0x0d, 0xb0} // deposit()
	selWithdraw  = abi.Selector{0x2e, 0x1a, 0x7d, 0x4d} // withdraw(uint256)

	selExactInputSingle = abi.Selector{0x04, 0xe4, 0x5a, 0xaf} // exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))
	selMulticall        = abi.Selector{0x5a, 0xe4, 0x01, 0xdc} // multicall(uint256,bytes[])
	selUnwrap           = abi.Selector{0x49, 0x40, 0x4b, 0x7c} // unwrapWETH9(uint256,address)

	// The same three swaps of V2, each plain and for tokens that keep a fee:
	// tokens for tokens, ETH for tokens, tokens for ETH.
	selTokensForTokens    = abi.Selector{0x38, 0xed, 0x17, 0x39} // swapExactTokensForTokens(uint256,uint256,address[],address,uint256)
	selETHForTokens       = abi.Selector{0x7f, 0xf3, 0x6a, 0xb5} // swapExactETHForTokens(uint256,address[],address,uint256)
	selTokensForETH       = abi.Selector{0x18, 0xcb, 0xaf, 0xe5} // swapExactTokensForETH(uint256,uint256,address[],address,uint256)
	selTokensForTokensFee = abi.Selector{0x5c, 0x11, 0xd7, 0x95} // swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256,uint256,address[],address,uint256)
	selETHForTokensFee    = abi.Selector{0xb6, 0xf9, 0xde, 0x95} // swapExactETHForTokensSupportingFeeOnTransferTokens(uint256,address[],address,uint256)
	selTokensForETHFee    = abi.Selector{0x79, 0x1a, 0xc9, 0x47} // swapExactTokensForETHSupportingFeeOnTransferTokens(uint256,uint256,address[],address,uint256)
)
