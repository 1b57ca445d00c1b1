package oracle

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/subnet112/assay/chain"
	"github.com/subnet112/assay/intent"
)

// replyBytes bounds the reply to one read.
const replyBytes = 1 << 20

// words are the 32-byte words a call returned.
type words []uint256.Int

// address returns word i as an address.
func (w words) address(i int) common.Address {
	return common.Address(w[i].Bytes20())
}

// signed returns word i, a signed number that fits 32 bits.
func (w words) signed(i int) int32 { return int32(w[i].Uint64()) }

// call reads a contract and returns at least n words. A read that fails is an
// error that names contract, function and reason.
func call(ctx context.Context, v *chain.View, to common.Address, n int, signature string, args ...*uint256.Int) (words, error) {
	data := crypto.Keccak256([]byte(signature))[:4]
	for _, arg := range args {
		word := arg.Bytes32()
		data = append(data, word[:]...)
	}
	req := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":"%s","data":"0x%x"},"latest"]}`, to.Hex(), data)
	reply, _, err := v.Serve(ctx, []byte(req), chain.Cost{Requests: 1, Gas: chain.LimitReadGas, Bytes: replyBytes})
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", signature, to.Hex(), err)
	}
	var answer struct {
		Result string `json:"result"`
		Error  *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(reply, &answer); err != nil {
		return nil, fmt.Errorf("%s of %s: %w", signature, to.Hex(), err)
	}
	if answer.Error != nil {
		return nil, fmt.Errorf("%s of %s: %s", signature, to.Hex(), intent.Quoted(answer.Error.Message, 200))
	}
	b, err := hex.DecodeString(strings.TrimPrefix(answer.Result, "0x"))
	if err != nil || len(b) < 32*n {
		return nil, fmt.Errorf("%s of %s: %d bytes, want %d words", signature, to.Hex(), len(b), n)
	}
	list := make(words, len(b)/32)
	for i := range list {
		list[i].SetBytes(b[32*i : 32*i+32])
	}
	return list, nil
}

// addressWord is an address as an argument.
func addressWord(a common.Address) *uint256.Int { return new(uint256.Int).SetBytes(a[:]) }

// signedWord is a signed number as an argument.
func signedWord(n int32) *uint256.Int {
	if n >= 0 {
		return uint256.NewInt(uint64(n))
	}
	z := uint256.NewInt(uint64(-int64(n)))
	return z.Neg(z)
}
