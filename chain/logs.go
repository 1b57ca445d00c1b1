package chain

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// LogLimit is how many transfers, and how many approvals, an [Outcome] keeps.
const LogLimit = 256

var (
	transferTopic = crypto.Keccak256Hash([]byte("Transfer(address,address,uint256)"))
	approvalTopic = crypto.Keccak256Hash([]byte("Approval(address,address,uint256)"))
)

// readLogs fills in the outcome's events. Beyond their limits they are counted,
// so that a report can say how much it does not show.
func (o *Outcome) readLogs(logs []*types.Log) {
	o.Logs = len(logs)
	for _, l := range logs {
		a, b, amount, ok := tokenEvent(l)
		if !ok {
			continue
		}
		switch {
		case l.Topics[0] == transferTopic && len(o.Transfers) < LogLimit:
			o.Transfers = append(o.Transfers, Transfer{Token: l.Address, From: a, To: b, Amount: amount})
		case l.Topics[0] == approvalTopic && len(o.Approvals) < LogLimit:
			o.Approvals = append(o.Approvals, Approval{Token: l.Address, Owner: a, Spender: b, Amount: amount})
		default:
			o.Dropped++
		}
	}
}

// tokenEvent reads an ERC-20 Transfer or Approval: exactly two indexed
// addresses and one word of data. An ERC-721 event has the same first topic and
// four topics; its third is no amount, so it is not counted.
func tokenEvent(l *types.Log) (a, b common.Address, amount *big.Int, ok bool) {
	if len(l.Topics) != 3 || len(l.Data) != 32 {
		return a, b, nil, false
	}
	if l.Topics[0] != transferTopic && l.Topics[0] != approvalTopic {
		return a, b, nil, false
	}
	a, okA := topicAddress(l.Topics[1])
	b, okB := topicAddress(l.Topics[2])
	return a, b, new(big.Int).SetBytes(l.Data), okA && okB
}

// topicAddress reads an indexed address, whose upper twelve bytes are zero.
func topicAddress(topic common.Hash) (common.Address, bool) {
	var pad [common.HashLength - common.AddressLength]byte
	return common.BytesToAddress(topic[:]), [len(pad)]byte(topic[:len(pad)]) == pad
}
