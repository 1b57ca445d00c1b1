package chain_test

import (
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/subnet112/assay/intent"
)

// An event is an ERC-20 transfer or approval if it has the shape of one; what
// looks like it by its first topic alone is a log and nothing more.
func TestEventShapes(t *testing.T) {
	t.Parallel()
	owner, other := toyOwner.Hex(), toyReceiver.Hex()
	dirty := "0x01" + strings.Repeat("00", 11) + other[2:]
	for _, tt := range []struct {
		name                 string
		code                 string
		transfers, approvals int
	}{
		{"an ERC-20 transfer", other + " " + owner + " " + transferTopic + " 32 0 LOG3", 1, 0},
		{"an ERC-20 approval", other + " " + owner + " " + approvalTopic + " 32 0 LOG3", 0, 1},
		{"an ERC-721 transfer has four topics", "5 " + other + " " + owner + " " + transferTopic + " 0 0 LOG4", 0, 0},
		{"four topics and a word of data", "5 " + other + " " + owner + " " + transferTopic + " 32 0 LOG4", 0, 0},
		{"nothing indexed", transferTopic + " 96 0 LOG1", 0, 0},
		{"no amount", other + " " + owner + " " + transferTopic + " 0 0 LOG3", 0, 0},
		{"31 bytes of amount", other + " " + owner + " " + transferTopic + " 31 0 LOG3", 0, 0},
		{"two words of amount", other + " " + owner + " " + transferTopic + " 64 0 LOG3", 0, 0},
		{"a topic that is no address", dirty + " " + owner + " " + transferTopic + " 32 0 LOG3", 0, 0},
		{"another event", other + " " + owner + " 7 32 0 LOG3", 0, 0},
		{"no topics", "32 0 LOG0", 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := toySnapshot()
			withContract(s, toyUnknown, asm(tt.code+" STOP"))
			out, _ := execute(t, worldOf(t, s), toyOrder(toyToken, 0, toyVyper), toyPlan(callTo(toyUnknown, 0, nil)))
			if out.Cause != intent.CauseNone || out.Logs != 1 {
				t.Fatalf("outcome %+v, want one log", out)
			}
			if len(out.Transfers) != tt.transfers || len(out.Approvals) != tt.approvals || out.Dropped != 0 {
				t.Errorf("transfers %v, approvals %v, %d dropped", out.Transfers, out.Approvals, out.Dropped)
			}
		})
	}
}

// The topics are hashes of the events' signatures, not constants to be trusted.
func TestEventTopics(t *testing.T) {
	t.Parallel()
	for signature, want := range map[string]string{
		"Transfer(address,address,uint256)": transferTopic,
		"Approval(address,address,uint256)": approvalTopic,
	} {
		if got := crypto.Keccak256Hash([]byte(signature)).Hex(); got != want {
			t.Errorf("%s = %s, want %s", signature, got, want)
		}
	}
}
