package conformance_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/subnet112/assay/sandbox"
)

// rows are what every guest is asked, by subject.
var rows = slices.Concat(outputs, endings, inputs, reads, logs, surroundings, computations)

var outputs = []row{
	{name: "an answer", script: "say hello", output: "hello"},
	{name: "no answer", script: "say "},
	{name: "bytes of every value", script: "hex " + hex.EncodeToString(everyByte()), output: string(everyByte())},
	{name: "text of many scripts", script: "say " + manyScripts, output: manyScripts},
	{name: "a long answer", script: "fill 1000000", output: pattern(1_000_000)},
	{name: "an answer of exactly the limit", script: "fill 1000", limit: 1000, output: pattern(1000)},
	{name: "one byte over the limit", script: "fill 1001", limit: 1000, cause: sandbox.CauseOutput},
	{name: "an answer in pieces", script: "fill 1000;pieces 7", output: pattern(1000), cannot: cannotJS(engineOutputs)},
	{name: "empty pieces", script: "flush;say a;flush;flush;say b", output: "ab", cannot: cannotJS(engineOutputs)},
	{name: "one byte over in the last piece", script: "fill 1001;pieces 1000", limit: 1000, cause: sandbox.CauseOutput, cannot: cannotJS(engineOutputs)},
	{name: "no answer where none may be given", script: "say ", limit: none},
	{name: "an answer where none may be given", script: "say x", limit: none, cause: sandbox.CauseOutput},
}

var endings = []row{
	{name: "status 1 with its message", script: "say no route;fail", status: 1, output: "no route"},
	{name: "status 1 with a message of many scripts", script: "say " + manyScripts + ";fail", status: 1, output: manyScripts},
	{name: "status 1 without a message", script: "fail", status: 1},
	{name: "status 1 with 4 KiB of message", script: "repeat 4096 x;fail", status: 1, output: strings.Repeat("x", 4096),
		cannot: cannotJS("the engine keeps 1,024 characters")},
	{name: "status 1 with 1,024 characters of message", script: "repeat 1024 x;fail", status: 1, output: strings.Repeat("x", 1024)},
	{name: "status 2", script: "say no vaults;absent", status: 2, output: "no vaults", cannot: cannotJS(engineStatuses)},
	{name: "a status that means nothing", script: "status 7", status: 7, cannot: cannotJS(engineStatuses)},
	{name: "a negative status", script: "status 4294967295", status: -1, cannot: cannotJS(engineStatuses)},
	{name: "a mistake in the script", script: "frobnicate", status: 1, output: "unknown operation"},

	{name: "a trap", script: "trap", cause: sandbox.CauseTrap, cannot: cannotJS(engineTraps)},
	{name: "what was said before a trap is lost, what was logged is not", script: "say a;flush;log 1 last words;trap",
		cause: sandbox.CauseTrap, log: "I last words\n", cannot: cannotJS(engineTraps)},
	{name: "exit with 0", script: "exit 0", cause: sandbox.CauseExit, detail: "proc_exit(0)", cannot: cannotJS(noExit)},
	{name: "exit with 3", script: "exit 3", cause: sandbox.CauseExit, detail: "proc_exit(3)", cannot: cannotJS(noExit)},

	badPointer("input", 0xffffffff, 1), badPointer("input", 0, 0xffffffff), badPointer("input", 0xffffff00, 0x200),
	badPointer("output", 0xffffffff, 1), badPointer("output", 0, 0xffffffff), badPointer("output", 0xffffff00, 0x200),
	badPointer("rpc", 0xffffffff, 1), badPointer("rpc", 0, 0xffffffff), badPointer("rpc", 0xffffff00, 0x200),
	badPointer("rpc_read", 0xffffffff, 1), badPointer("rpc_read", 0, 0xffffffff), badPointer("rpc_read", 0xffffff00, 0x200),
	badPointer("log", 0xffffffff, 1), badPointer("log", 0, 0xffffffff), badPointer("log", 0xffffff00, 0x200),
	badPointer("output", 0xffffffff, 0),

	{name: "out of memory", script: "grow 600", cause: sandbox.CauseMemory, detail: "of 8,192 pages", talks: true,
		cannot: cannotJS(engineTraps)},
	{name: "out of memory in a script", script: "grow 600", status: 1, output: "InternalError: out of memory",
		cannot: map[string]string{"go": notAScript, "c": notAScript, "rust": notAScript, "as": notAScript}},

	{name: "an endless loop", script: "spin", fuel: 50_000_000, cause: sandbox.CauseFuel},
	{name: "work beyond the fuel", script: "mix 100000000", fuel: 50_000_000, cause: sandbox.CauseFuel},
	{name: "recursion without an end", script: "recurse 4000000000", cause: sandbox.CauseDepth, cannot: cannotJS(engineTraps)},
	{name: "recursion without an end in a script", script: "recurse 4000000000", status: 1, output: "InternalError: stack overflow",
		cannot: map[string]string{"go": notAScript, "c": notAScript, "rust": notAScript, "as": notAScript}},
}

const notAScript = "this is about scripts"

func badPointer(name string, ptr, length uint32) row {
	return row{
		name:   fmt.Sprintf("%s with %d bytes at %#x", name, length, ptr),
		script: fmt.Sprintf("pointer %s %d %d", name, ptr, length),
		cause:  sandbox.CauseBadPointer, detail: name + ": ", asked: nil,
		cannot: cannotJS("a script has no pointers"),
	}
}

var inputs = []row{
	{name: "the length that the call was given", export: "restore_state", input: "12345", script: "length", output: "5", cannot: cannotJS(engineReads)},
	{name: "a call without input", script: "length;say  ;more;say  ;echo", output: "0 0 ", cannot: cannotJS(engineReads)},
	{name: "after the end there is nothing", export: "restore_state", input: "12345", script: "more;say  ;more", output: "0 0", cannot: cannotJS(engineReads)},
	{name: "a buffer that is smaller than the input", export: "restore_state", input: pattern(100_000), size: 7, script: "echo", output: pattern(100_000), cannot: cannotJS(engineReads)},
	{name: "a buffer as large as the input", export: "restore_state", input: pattern(4096), size: 4096, script: "echo", output: pattern(4096), cannot: cannotJS(engineReads)},
	{name: "a long input", export: "restore_state", input: pattern(3 << 20), script: "echo", limit: 4 << 20, output: pattern(3 << 20),
		cannot: cannotJS("restoreState gives no answer; TestState has it")},
}

func answered(result string) sandbox.Reply {
	return sandbox.Reply{Body: []byte(`{"jsonrpc":"2.0","id":1,"result":"` + result + `"}`)}
}

func request(method string) string {
	return `1 {"jsonrpc":"2.0","id":1,"method":"` + method + `","params":[]}`
}

var reads = []row{
	{name: "a read", script: "read 1 eth_chainId", output: "0x1", asked: []string{request("eth_chainId")}},
	{name: "reads in order", script: "read 1 a;say  ;read 1 b", output: "0xa 0xb",
		serve: map[string]sandbox.Reply{`"a"`: answered("0xa"), `"b"`: answered("0xb")}, asked: []string{request("a"), request("b")}},
	{name: "a long reply", script: "read 1 m", serve: map[string]sandbox.Reply{"": answered(strings.Repeat("0123456789", 10_000))}, output: strings.Repeat("0123456789", 10_000)},
	{name: "a reply of many scripts", script: "read 1 m", serve: map[string]sandbox.Reply{"": answered(manyScripts)}, output: manyScripts},
	{name: "an error of the chain's", script: "read 1 m", output: "rpc error: execution reverted",
		serve: map[string]sandbox.Reply{"": {Body: []byte(`{"jsonrpc":"2.0","id":1,"error":{"code":3,"message":"execution reverted"}}`)}}},
	{name: "an unknown chain", script: "read 5 m", output: "-1", asked: []string{`5 {"jsonrpc":"2.0","id":1,"method":"m","params":[]}`}},
	{name: "the largest signed chain id", script: "read 9223372036854775807 m", output: "-1", asked: []string{`9223372036854775807 {"jsonrpc":"2.0","id":1,"method":"m","params":[]}`}},
	{name: "the largest chain id", script: "read 18446744073709551615 m", output: "-1", asked: []string{`18446744073709551615 {"jsonrpc":"2.0","id":1,"method":"m","params":[]}`},
		cannot: cannotJS("the engine itself says unknown to what is beyond 63 bits")},
	{name: "an unknown chain and then a known one", script: "read 5 m;say  ;read 1 m", output: "-1 0x1"},
	{name: "over budget, and so is every further read", script: "reads 2 1 m;say  ;read 1 last;say  ;reads 3 1 m", output: "2 0x1 -2 0 -2",
		serve: map[string]sandbox.Reply{"last": {Status: sandbox.ReadBudget}}, asked: []string{request("m"), request("m"), request("last")}},
	{name: "replies of exactly the budget", script: "reads 3 1 m", readOut: 3 * 39, output: "3 0x1"},
	{name: "replies of one byte beyond the budget", script: "reads 3 1 m", readOut: 3*39 - 1, output: "2 -2"},
	{name: "a reply that is too large", script: "read 1 m;say  ;read 1 n", output: "-3 0x1", serve: map[string]sandbox.Reply{`"m"`: {Status: sandbox.ReadTooLarge}}},
	{name: "a request of exactly the limit", script: "big 1 1048576", output: "answered", asked: []string{"1 1048576 bytes"}},
	{name: "a request of one byte beyond the limit", script: "big 1 1048577;say  ;read 1 m", output: "-3 0x1", asked: []string{request("m")}},
	{name: "no text of a request is looked at", script: "raw 1 100 not json", output: "4 nope", serve: map[string]sandbox.Reply{"not json": {Body: []byte("nope")}},
		asked: []string{"1 not json"}, cannot: cannotJS(engineAsks)},
	{name: "a batch", script: "raw 1 100 [{'id':1},{'id':2}]", output: `9 [{},{},1]`, serve: map[string]sandbox.Reply{"[{": {Body: []byte("[{},{},1]")}},
		asked: []string{`1 [{"id":1},{"id":2}]`}, cannot: cannotJS(engineAsks)},
	{name: "an empty request", script: "raw 1 100 ", output: "1 x", serve: map[string]sandbox.Reply{"": {Body: []byte("x")}}, asked: []string{"1 "}, cannot: cannotJS(engineAsks)},
	{name: "an empty reply", script: "raw 1 100 r", output: "0 ", serve: map[string]sandbox.Reply{"": {}}, cannot: cannotJS(engineAsks)},
	{name: "a reply in pieces", script: "raw 1 7 r", output: "1000 " + pattern(1000), serve: map[string]sandbox.Reply{"": {Body: []byte(pattern(1000))}}, cannot: cannotJS(engineAsks)},
	{name: "a reply byte by byte", script: "raw 1 1 r", output: "1000 " + pattern(1000), serve: map[string]sandbox.Reply{"": {Body: []byte(pattern(1000))}}, cannot: cannotJS(engineAsks)},
	{name: "no reply without a request", script: "peek", output: "0", cannot: cannotJS(engineAsks)},
	{name: "no reply after a refusal", script: "raw 5 100 r;peek", output: "-1 0", cannot: cannotJS(engineAsks)},
	{name: "no second reply", script: "raw 1 100 r;say  ;peek", output: "1 x 0", serve: map[string]sandbox.Reply{"": {Body: []byte("x")}}, cannot: cannotJS(engineAsks)},
	{name: "what breaks the host's reading is not the guest's", script: "read 1 m", broken: errors.New("disk on fire"), host: true},
}

var logs = []row{
	{name: "every level", script: "log 0 a;log 1 b;log 2 c;log 3 d", log: "D a\nI b\nW c\nE d\n"},
	{name: "a level that there isn't", script: "log 4 a;log 4294967295 b", log: "? a\n? b\n", cannot: cannotJS("console has four levels")},
	{name: "an empty line", script: "log 1 ", log: "I \n"},
	{name: "a line of many scripts", script: "log 2 " + manyScripts, log: "W " + manyScripts + "\n"},
	{name: "standard output", script: "print hello;log 1 x;print again", log: "hello\nI x\nagain\n", cannot: cannotJS(noStdout)},
	{name: "a log of exactly the limit", script: "logfill 65533;say ok", output: "ok", log: "I " + strings.Repeat("x", 65533) + "\n"},
	{name: "a log of one byte beyond the limit", script: "logfill 65534;say ok", cause: sandbox.CauseLog,
		log: "I " + strings.Repeat("x", 65534)}, // the line end was one too many
	{name: "a second line beyond the limit", script: "logfill 65532;log 1 x", cause: sandbox.CauseLog, log: "I " + strings.Repeat("x", 65532) + "\n"},
	{name: "status 1 keeps the log", script: "log 3 why;say no;fail", status: 1, output: "no", log: "E why\n"},
}

var surroundings = []row{
	{name: "the clock stands at the pinned time", script: "clock", output: "1700000000"},
	{name: "the clock moves when it is read", script: "ticks", output: "later", cannot: cannotJS(clockStands)},
	{name: "sleep moves the clock and takes no time", script: "clock;say  ;sleep 3600000;clock", output: "1700000000 1700003600",
		holds: func(u sandbox.Usage) string {
			if hour := uint64(3600_000_000_000); u.VirtualNS < hour || u.VirtualNS > hour+1_000_000 {
				return "want an hour of virtual time"
			}
			return ""
		}, cannot: cannotJS("a script has no timers")},
	{name: "randomness is the call's", script: "random 40", output: chacha(40),
		cannot: cannotJS("Math.random has its own generator; TestRandomInScripts has it")},
}

var computations = []row{
	{name: "integers wrap", script: "mix 1000", output: fmt.Sprintf("%016x", mix(1000))},
	{name: "calls in calls", script: "recurse 500", output: fmt.Sprint(recurse(500))},
	{name: "calls in calls, not far from the limit", script: "recurse 1500", output: fmt.Sprint(recurse(1500)), cannot: cannotJS("a script's own stack ends at about 900 calls")},
	{name: "memory", script: "grow 64;say  ;grow 64", output: "64 64", holds: func(u sandbox.Usage) string {
		if u.PeakPages < 1024 || u.PeakPages > 8192 {
			return "want 64 MiB at least"
		}
		return ""
	}},
	{name: "fuel of a call", script: "say x", output: "x", holds: func(u sandbox.Usage) string {
		if u.Fuel == 0 {
			return "want some fuel"
		}
		return ""
	}},

	{name: "a double that is not a number has one form", script: "f64 div 0000000000000000 0000000000000000;say  ;f64 sub 7ff0000000000000 7ff0000000000000;say  ;" +
		"f64 mul 7ff0000000000000 8000000000000000;say  ;f64 sqrt bff0000000000000;say  ;f64 add 7ff8000000000123 fff8000000000456;say  ;" +
		"f64 add 3ff0000000000000 fff8000000000456;say  ;f64 demote 7ff8000000000123;say  ;f64 demote fff4000000000000",
		output: strings.Repeat("7ff8000000000000 ", 6) + "7fc00000 7fc00000"},
	{name: "a float that is not a number has one form", script: "f32 div 00000000 80000000;say  ;f32 sub ff800000 ff800000;say  ;f32 mul 00000000 ff800000;say  ;" +
		"f32 sqrt bf800000;say  ;f32 add 7fc00123 ffc00456;say  ;f32 add 3f800000 ffc00456;say  ;f32 promote ffc00123",
		output: strings.Repeat("7fc00000 ", 6) + "7ff8000000000000"},
	{name: "doubles round to nearest even", script: "f64 add 3fb999999999999a 3fc999999999999a;say  ;f64 sub 3ff0000000000000 3fefffffffffffff;say  ;" +
		"f64 mul 3ff0000000000001 3ff0000000000001;say  ;f64 div 3ff0000000000000 4008000000000000;say  ;f64 sqrt 4000000000000000",
		output: "3fd3333333333334 3ca0000000000000 3ff0000000000002 3fd5555555555555 3ff6a09e667f3bcd"},
	{name: "doubles at their ends", script: "f64 mul 7fefffffffffffff 4000000000000000;say  ;f64 div 0000000000000001 4000000000000000;say  ;" +
		"f64 div bff0000000000000 0000000000000000;say  ;f64 sub 8000000000000000 0000000000000000;say  ;f64 demote 7fefffffffffffff",
		output: "7ff0000000000000 0000000000000000 fff0000000000000 8000000000000000 7f800000"},
	{name: "floats round to nearest even", script: "f32 add 3dcccccd 3e4ccccd;say  ;f32 mul 3f800001 3f800001;say  ;f32 div 3f800000 40400000;say  ;f32 sqrt 40000000;say  ;f64 demote 3fb999999999999a;say  ;f32 promote 3dcccccd",
		output: "3e99999a 3f800002 3eaaaaab 3fb504f3 3dcccccd 3fb99999a0000000"},
}

// manyScripts has letters of one to four bytes, of both directions, that combine,
// and a line separator, which JSON leaves alone.
const manyScripts = "aé\u0301 漢字 עברית 🦄\u2028\u007f €"

func everyByte() []byte {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// pattern is what the operation fill says.
func pattern(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i % 251)
	}
	return string(b)
}

// chacha is the beginning of the seed's random bytes in hex.
func chacha(n int) string {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8(seed).Read(b) // it never fails
	return hex.EncodeToString(b)
}

func mix(rounds int) uint64 {
	var x, s uint64
	for range rounds {
		s += 0x9e3779b97f4a7c15
		z := (s ^ s>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		x = (x<<1 | x>>63) ^ z ^ z>>31
	}
	return x
}

func recurse(n uint32) uint32 {
	x := uint32(1)
	for i := uint32(1); i <= n; i++ {
		x = x*31 ^ i
	}
	return x
}
