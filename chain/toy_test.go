package chain_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

// The toy chain: a few accounts and hand-assembled contracts, small enough that
// every expected number in a test can be worked out on paper.
var (
	toyOwner    = common.HexToAddress("0x1000000000000000000000000000000000000001")
	toyPoor     = common.HexToAddress("0x1000000000000000000000000000000000000002") // exists, owns 1 wei
	toyReceiver = common.HexToAddress("0x1000000000000000000000000000000000000003")
	toyCoinbase = common.HexToAddress("0x1000000000000000000000000000000000000004")
	toyAbsent   = common.HexToAddress("0x1000000000000000000000000000000000000005") // known not to exist
	toyUnknown  = common.HexToAddress("0x1000000000000000000000000000000000000006") // not in the snapshot

	toyToken  = common.HexToAddress("0x2000000000000000000000000000000000000001") // mapping at slot 7, Solidity order
	toyVyper  = common.HexToAddress("0x2000000000000000000000000000000000000002") // mapping at slot 3, Vyper order
	toyProxy  = common.HexToAddress("0x2000000000000000000000000000000000000003") // delegates to toyToken's code
	toyFlag   = common.HexToAddress("0x2000000000000000000000000000000000000004") // bit 255 of the balance's slot is a flag
	toyShares = common.HexToAddress("0x2000000000000000000000000000000000000005") // balance = 2 × slot
	toyShort  = common.HexToAddress("0x2000000000000000000000000000000000000006") // balanceOf returns 31 bytes
	toyAngry  = common.HexToAddress("0x2000000000000000000000000000000000000007") // balanceOf reverts
	toyLoop   = common.HexToAddress("0x2000000000000000000000000000000000000008") // any call runs out of gas
	toyOpen   = common.HexToAddress("0x2000000000000000000000000000000000000009") // a toyToken whose other slots are unknown
	toyMutes  = common.HexToAddress("0x200000000000000000000000000000000000000a") // balanceOf reverts once it was called otherwise
	toyPacked = common.HexToAddress("0x200000000000000000000000000000000000000b") // balance in the low 96 bits

	toyThrows  = common.HexToAddress("0x3000000000000000000000000000000000000001") // reverts with its calldata
	toyBad     = common.HexToAddress("0x3000000000000000000000000000000000000002") // invalid opcode
	toyBlock   = common.HexToAddress("0x3000000000000000000000000000000000000003") // reads BLOCKHASH(number - word 0)
	toyLogs    = common.HexToAddress("0x3000000000000000000000000000000000000004") // emits word 0 Transfers from the caller
	toyStore   = common.HexToAddress("0x3000000000000000000000000000000000000005") // slot[word 0] = word 1
	toyWallet  = common.HexToAddress("0x3000000000000000000000000000000000000006") // has code and owns tokens
	toyReenter = common.HexToAddress("0x3000000000000000000000000000000000000007") // swallows a revert of toyLoop
)

const (
	toyRich     = 1_000_000 // what toyOwner has of every token
	toySpare    = 5_000_000 // wei of toyOwner
	toyNumber   = 24_199_254
	toyTime     = 1_769_991_048
	toyGasLimit = 60_000_000
)

// asm assembles EVM code: opcode names, decimal or 0x numbers (pushed), labels
// ("name:") and references to them ("@name").
func asm(src string) []byte {
	var (
		code   []byte
		labels = map[string]int{}
		refs   = map[int]string{}
	)
	for _, word := range strings.Fields(src) {
		switch {
		case strings.HasSuffix(word, ":"):
			labels[word[:len(word)-1]] = len(code)
			code = append(code, byte(vm.JUMPDEST))
		case word[0] == '@':
			refs[len(code)+1] = word[1:]
			code = append(code, byte(vm.PUSH2), 0, 0)
		case word[0] >= '0' && word[0] <= '9':
			n, ok := new(big.Int).SetString(word, 0)
			if !ok {
				panic("asm: " + word)
			}
			b := n.Bytes()
			if len(b) == 0 {
				b = []byte{0}
			}
			code = append(append(code, byte(vm.PUSH1)+byte(len(b)-1)), b...)
		default:
			op := vm.StringToOp(word)
			if op == vm.STOP && word != "STOP" {
				panic("asm: " + word)
			}
			code = append(code, byte(op))
		}
	}
	for at, name := range refs {
		binary.BigEndian.PutUint16(code[at:], uint16(labels[name]))
	}
	return code
}

const (
	transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
	approvalTopic = "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925"
)

// tokenCode is an ERC-20 with balanceOf, transfer and approve (which keeps no
// allowance). hash leaves on the stack the slot of the address on top of it, and
// read turns that slot into a balance.
func tokenCode(hash, read string) []byte {
	return asm(`
		0 CALLDATALOAD 224 SHR
		DUP1 0x70a08231 EQ @balanceOf JUMPI
		DUP1 0xa9059cbb EQ @transfer JUMPI
		DUP1 0x095ea7b3 EQ @approve JUMPI
	refuse:
		0 0 REVERT
	balanceOf:
		4 CALLDATALOAD ` + hash + read + ` 0 MSTORE 32 0 RETURN
	transfer:
		CALLER ` + hash + ` DUP1 SLOAD 36 CALLDATALOAD
		DUP2 DUP2 GT @refuse JUMPI
		SWAP1 SUB SWAP1 SSTORE
		4 CALLDATALOAD ` + hash + ` DUP1 SLOAD 36 CALLDATALOAD ADD SWAP1 SSTORE
		36 CALLDATALOAD 0 MSTORE
		4 CALLDATALOAD CALLER ` + transferTopic + ` 32 0 LOG3
		1 0 MSTORE 32 0 RETURN
	approve:
		36 CALLDATALOAD 0 MSTORE
		4 CALLDATALOAD CALLER ` + approvalTopic + ` 32 0 LOG3
		1 0 MSTORE 32 0 RETURN`)
}

func solidityHash(slot int) string {
	return fmt.Sprintf(" 0 MSTORE %d 32 MSTORE 64 0 KECCAK256 ", slot)
}
func vyperHash(slot int) string { return fmt.Sprintf(" 32 MSTORE %d 0 MSTORE 64 0 KECCAK256 ", slot) }

// mappingSlot is where a Solidity mapping at slot keeps a key.
func mappingSlot(key common.Address, slot byte) common.Hash {
	return crypto.Keccak256Hash(common.LeftPadBytes(key[:], 32), common.LeftPadBytes([]byte{slot}, 32))
}

func vyperSlot(key common.Address, slot byte) common.Hash {
	return crypto.Keccak256Hash(common.LeftPadBytes([]byte{slot}, 32), common.LeftPadBytes(key[:], 32))
}

func word(n uint64) common.Hash { return common.BigToHash(new(big.Int).SetUint64(n)) }

// toySnapshot is the toy chain as an imported snapshot: what is unlisted is
// unknown, but for contracts marked complete.
func toySnapshot() *chain.Snapshot {
	flag := common.Hash{0: 0x80}
	solidity := tokenCode(solidityHash(7), " SLOAD ")
	s := &chain.Snapshot{
		ChainID:    1,
		ForkRules:  "mainnet/osaka",
		Provenance: chain.Imported,
		Context: chain.Context{
			Number: toyNumber, Time: toyTime, BaseFee: uint256.NewInt(7_000_000_000), BlobBaseFee: uint256.NewInt(1),
			PrevRandao: common.Hash{1}, Coinbase: toyCoinbase, GasLimit: toyGasLimit,
		},
		BlockHashes: []chain.BlockHash{{Number: toyNumber - 1, Hash: common.Hash{0xaa}}},
		Absent:      []common.Address{toyAbsent, common.BytesToAddress([]byte{1, 0})},
	}
	for i := byte(1); i <= 0x11; i++ {
		s.Absent = append(s.Absent, common.BytesToAddress([]byte{i}))
	}
	account := func(a common.Address, wei uint64, code []byte, complete bool, slots ...chain.Slot) {
		acc := chain.Account{Address: a, Nonce: 1, Balance: uint256.NewInt(wei), CodeHash: types.EmptyCodeHash, Complete: complete, Slots: slots}
		if len(code) > 0 {
			acc.CodeHash = crypto.Keccak256Hash(code)
			known := false
			for _, c := range s.Codes {
				known = known || crypto.Keccak256Hash(c) == acc.CodeHash
			}
			if !known {
				s.Codes = append(s.Codes, code)
			}
		}
		s.Accounts = append(s.Accounts, acc)
	}
	rich := func(key common.Hash) chain.Slot { return chain.Slot{Key: key, Value: word(toyRich)} }
	account(toyOwner, toySpare, nil, false)
	account(toyPoor, 1, nil, false)
	account(toyReceiver, 1, nil, false)
	account(toyCoinbase, 1, nil, false)
	account(toyToken, 0, solidity, true, rich(mappingSlot(toyOwner, 7)), rich(mappingSlot(toyWallet, 7)))
	account(toyVyper, 0, tokenCode(vyperHash(3), " SLOAD "), true, rich(vyperSlot(toyOwner, 3)))
	account(toyProxy, 0, asm(`
		CALLDATASIZE 0 0 CALLDATACOPY
		0 0 CALLDATASIZE 0 `+toyToken.Hex()+` GAS DELEGATECALL
		RETURNDATASIZE 0 0 RETURNDATACOPY
		@ok JUMPI RETURNDATASIZE 0 REVERT
	ok:
		RETURNDATASIZE 0 RETURN`), true, rich(mappingSlot(toyOwner, 7)))
	account(toyFlag, 0, tokenCode(solidityHash(9), " SLOAD 1 SHL 1 SHR "), true,
		chain.Slot{Key: mappingSlot(toyPoor, 9), Value: flag})
	account(toyShares, 0, tokenCode(solidityHash(0), " SLOAD 2 MUL "), true)
	account(toyShort, 0, asm("31 0 RETURN"), true)
	account(toyAngry, 0, asm("0 0 REVERT"), true)
	account(toyLoop, 0, asm("again: @again JUMP"), true)
	account(toyOpen, 0, solidity, false, rich(mappingSlot(toyOwner, 7)))
	account(toyMutes, 0, asm(`
		0 CALLDATALOAD 224 SHR 0x70a08231 EQ @balanceOf JUMPI
		1 0 SSTORE STOP
	balanceOf:
		0 SLOAD @refuse JUMPI 32 0 RETURN
	refuse:
		0 0 REVERT`), true)
	account(toyPacked, 0, tokenCode(solidityHash(1), " SLOAD 160 SHL 160 SHR "), true,
		chain.Slot{Key: mappingSlot(toyPoor, 1), Value: common.Hash{0: 0xab}})
	account(toyThrows, 0, asm("CALLDATASIZE 0 0 CALLDATACOPY CALLDATASIZE 0 REVERT"), true)
	account(toyBad, 0, asm("INVALID"), true)
	account(toyBlock, 0, asm("0 CALLDATALOAD NUMBER SUB BLOCKHASH 0 SSTORE STOP"), true)
	account(toyLogs, 0, asm(`
		0 CALLDATALOAD
	next:
		DUP1 ISZERO @done JUMPI
		DUP1 0 MSTORE
		`+toyReceiver.Hex()+` CALLER `+transferTopic+` 32 0 LOG3
		1 SWAP1 SUB @next JUMP
	done:
		STOP`), true)
	account(toyStore, 0, asm("32 CALLDATALOAD 0 CALLDATALOAD SSTORE STOP"), true, chain.Slot{Key: word(1), Value: word(1)})
	account(toyWallet, toySpare, asm("STOP"), true)
	account(toyReenter, 0, asm("0 0 0 0 0 "+toyLoop.Hex()+" GAS CALL @ok JUMPI 0 0 REVERT ok: STOP"), true)
	return s
}

func toyWorld(t testing.TB) *chain.World {
	t.Helper()
	return worldOf(t, toySnapshot())
}

// toyOrder is toyOwner's order to give of token in and want token out.
func toyOrder(in common.Address, amount uint64, out common.Address) chain.Order {
	o, err := chain.NewOrder(
		intent.Definition{AppID: "toy"},
		intent.State{ChainID: 1, Owner: toyOwner.Hex(), RawParams: map[string]any{
			"input_token": in.Hex(), "input_amount": fmt.Sprint(amount), "output_token": out.Hex(), "receiver": toyReceiver.Hex(),
		}})
	if err != nil {
		panic(err)
	}
	return o
}

// toyPlan is a plan of calls.
func toyPlan(calls ...intent.Interaction) intent.Plan {
	return intent.Plan{IntentID: "toy", Interactions: calls, Deadline: toyTime + 1}
}

func callTo(target common.Address, wei uint64, data []byte) intent.Interaction {
	return intent.Interaction{Target: target.Hex(), Value: fmt.Sprint(wei), CallData: "0x" + hex.EncodeToString(data), ChainID: 1}
}

func transfer(token, to common.Address, amount uint64) intent.Interaction {
	return tokenCall(token, "a9059cbb", to, amount)
}

func approve(token, spender common.Address, amount uint64) intent.Interaction {
	return tokenCall(token, "095ea7b3", spender, amount)
}

func tokenCall(token common.Address, selector string, who common.Address, amount uint64) intent.Interaction {
	data, err := hex.DecodeString(selector)
	if err != nil {
		panic(err)
	}
	n := word(amount)
	return callTo(token, 0, append(append(data, common.LeftPadBytes(who[:], 32)...), n[:]...))
}
