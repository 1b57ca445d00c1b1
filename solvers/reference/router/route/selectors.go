package route

import "github.com/subnet112/assay/solvers/sdk/abi"

// Selectors of the calls made here, with their signatures.
var (
	selAggregate      = abi.Selector{0x82, 0xad, 0x56, 0xcb} // aggregate3((address,bool,bytes)[])
	selAggregateValue = abi.Selector{0x17, 0x4d, 0xea, 0x71} // aggregate3Value((address,bool,uint256,bytes)[])

	selTickBitmap = abi.Selector{0x53, 0x39, 0xc2, 0x96} // tickBitmap(int16)
	selTicks      = abi.Selector{0xf3, 0x0d, 0xba, 0x93} // ticks(int24)
	selSlot0      = abi.Selector{0x38, 0x50, 0xc7, 0xbd} // slot0()
	selToken0     = abi.Selector{0x0d, 0xfe, 0x16, 0x81} // token0()
	selPairSwap   = abi.Selector{0x02, 0x2c, 0x0d, 0x9f} // swap(uint256,uint256,address,bytes)

	selAllowance = abi.Selector{0xdd, 0x62, 0xed, 0x3e} // allowance(address,address)
	selApprove   = abi.Selector{0x09, 0x5e, 0xa7, 0xb3} // approve(address,uint256)
	selBalanceOf = abi.Selector{0x70, 0xa0, 0x82, 0x31} // balanceOf(address)
	selTransfer  = abi.Selector{0xa9, 0x05, 0x9c, 0xbb} // transfer(address,uint256)
	selDeposit   = abi.Selector{0xd0, 0xe3, 0x0d, 0xb0} // deposit()
	selWithdraw  = abi.Selector{0x2e, 0x1a, 0x7d, 0x4d} // withdraw(uint256)

	// Of SwapRouter02.
	selExactInput      = abi.Selector{0xb8, 0x58, 0x18, 0x3f} // exactInput((bytes,address,uint256,uint256))
	selTokensForTokens = abi.Selector{0x47, 0x2b, 0x43, 0xf3} // swapExactTokensForTokens(uint256,uint256,address[],address)
	selMulticall       = abi.Selector{0x5a, 0xe4, 0x01, 0xdc} // multicall(uint256,bytes[])
	selUnwrap          = abi.Selector{0x49, 0x40, 0x4b, 0x7c} // unwrapWETH9(uint256,address)
	selPull            = abi.Selector{0xf2, 0xd5, 0xd5, 0x6b} // pull(address,uint256)
)
