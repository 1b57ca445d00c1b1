package direct

import "github.com/subnet112/assay/solvers/sdk/abi"

// Selectors by the signature each must hash from.
var Selectors = map[string]abi.Selector{
	"getPair(address,address)":        selGetPair,
	"getPool(address,address,uint24)": selGetPool,

	"getAmountsOut(uint256,address[])":                                selGetAmountsOut,
	"quoteExactInputSingle((address,address,uint256,uint24,uint160))": selQuoteExactSingle,
	"allowance(address,address)":                                      selAllowance,
	"approve(address,uint256)":                                        selApprove,
	"transfer(address,uint256)":                                       selTransfer,
	"deposit()":                                                       selDeposit,
	"withdraw(uint256)":                                               selWithdraw,
	"unwrapWETH9(uint256,address)":                                    selUnwrap,
	"multicall(uint256,bytes[])":                                      selMulticall,
	"swapExactTokensForTokens(uint256,uint256,address[],address,uint256)":        selTokensForTokens,
	"swapExactETHForTokens(uint256,address[],address,uint256)":                   selETHForTokens,
	"swapExactTokensForETH(uint256,uint256,address[],address,uint256)":           selTokensForETH,
	"exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))": selExactInputSingle,

	"swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256,uint256,address[],address,uint256)": selTokensForTokensFee,
	"swapExactETHForTokensSupportingFeeOnTransferTokens(uint256,address[],address,uint256)":            selETHForTokensFee,
	"swapExactTokensForETHSupportingFeeOnTransferTokens(uint256,uint256,address[],address,uint256)":    selTokensForETHFee,
}

// Limits of the memory.
const (
	MaxPairs      = maxPairs
	RelearnBlocks = relearnBlocks
)
