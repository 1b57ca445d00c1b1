//go:build wasip1

// The conformance guest in Go, on the bare ABI: see ../README.md for what it has
// to do. A solver is written with the SDK instead (solvers/sdk).
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"math"
	"math/bits"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unsafe"
)

const (
	metadata = `{"name":"conformance","version":"1.0.0","author":"assay"}`
	trigger  = `{"trigger":true}`
	plan     = `{"intent_id":"conformance","interactions":[{"target":"0x00000000000000000000000000000000000000aa",` +
		`"value":"0","call_data":"0x"}],"deadline":4102444800,"nonce":1}`
	quote = `{"estimated_output":"1"}`
)

const (
	ok             = 0
	failed         = 1
	notImplemented = 2
	goOn           = math.MinInt32 // the script isn't at its end
)

// What the guest keeps.
var (
	initInput []byte
	state     []byte
	input     []byte
	inputLen  uint32
	answer    []byte
)

func main() {}

// call serves one export.
func call(name string, n uint32, otherwise string) int32 {
	piece := 1 << 20
	if size, ok := script(initInput, "input"); ok {
		piece = int(number(size))
	}
	answer, inputLen = nil, n
	input = pull(piece, hostInput)
	if name == "initialize" {
		initInput = input
	}
	text, found := script(input, name)
	if !found {
		text, found = script(initInput, name)
	}
	var status int32
	switch {
	case found:
		status = run(text)
	case name == "restore_state":
		state = input
	case name == "serialize_state":
		answer = state
	default:
		say(otherwise)
	}
	if len(answer) > 0 {
		hostOutput(at(answer), uint32(len(answer)))
	}
	return status
}

// script finds the string that begins with a name in a JSON text.
func script(in []byte, name string) (string, bool) {
	_, text, found := bytes.Cut(in, []byte(`"`+name+` `))
	text, _, _ = bytes.Cut(text, []byte(`"`))
	return string(text), found
}

func run(script string) int32 {
	for script != "" {
		var op string
		op, script, _ = strings.Cut(script, ";")
		word, args, _ := strings.Cut(op, " ")
		if status := step(word, args); status != goOn {
			return status
		}
	}
	return ok
}

// step does one operation and returns the status that ends the script, or goOn.
func step(op, args string) int32 {
	first, rest, _ := strings.Cut(args, " ")
	second, tail, _ := strings.Cut(rest, " ")
	n := number(first)
	switch op {
	case "say":
		say(args)
	case "json":
		say(quotes(args))
	case "hex":
		b, _ := hex.DecodeString(args)
		answer = append(answer, b...)
	case "repeat":
		say(strings.Repeat(rest, int(n)))
	case "fill":
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i % 251)
		}
		answer = append(answer, b...)
	case "echo":
		answer = append(answer, input...)
	case "length":
		say(strconv.Itoa(int(inputLen)))
	case "more":
		sayInt(hostInput(at(make([]byte, 16)), 16))
	case "keep":
		state, answer = answer, nil
	case "state":
		answer = append(answer, state...)
	case "flush":
		flush(len(answer))
	case "pieces":
		flush(int(n))
	case "fail":
		return failed
	case "absent":
		return notImplemented
	case "status":
		return int32(n)
	case "trap":
		// Go has no unreachable; a load beyond the memory traps as well.
		beyond := uintptr(math.MaxUint32 - 15)
		say(strconv.Itoa(int(*(*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&beyond))))))
	case "exit":
		os.Exit(int(n))
	case "pointer":
		pointer(first, uint32(number(second)), uint32(number(tail)))
	case "log":
		hostLog(int32(n), unsafe.Pointer(unsafe.StringData(rest)), uint32(len(rest)))
	case "logfill":
		line := bytes.Repeat([]byte("x"), int(n))
		hostLog(1, at(line), uint32(len(line)))
	case "print":
		fmt.Println(args)
	case "read":
		_, said := callMethod(n, rest)
		say(said)
	case "reads":
		answered, last := 0, ""
		for range n {
			var ok bool
			if ok, last = callMethod(number(second), tail); ok {
				answered++
			}
		}
		say(strconv.Itoa(answered) + " " + last)
	case "big":
		ok, said := callMethod(n, strings.Repeat("m", int(number(rest))-len(request(""))))
		if ok {
			said = "answered"
		}
		say(said)
	case "raw":
		reply, status := ask(n, []byte(quotes(tail)), int(number(second)))
		sayInt(status)
		say(" " + string(reply))
	case "peek":
		sayInt(hostRPCRead(at(make([]byte, 16)), 16))
	case "clock":
		say(strconv.FormatInt(time.Now().Unix(), 10))
	case "ticks":
		if before := time.Now().UnixNano(); time.Now().UnixNano() > before {
			say("later")
		} else {
			say("same")
		}
	case "sleep":
		time.Sleep(time.Duration(n) * time.Millisecond)
	case "random":
		b := make([]byte, n)
		rand.Read(b) // it never fails
		say(hex.EncodeToString(b))
	case "f64":
		say(double(first, math.Float64frombits(hexBits(second)), math.Float64frombits(hexBits(tail))))
	case "f32":
		say(single(first, math.Float32frombits(uint32(hexBits(second))), math.Float32frombits(uint32(hexBits(tail)))))
	case "mix":
		say(fmt.Sprintf("%016x", mix(n)))
	case "recurse":
		say(strconv.FormatUint(uint64(recurse(uint32(n))), 10))
	case "spin":
		for {
			inputLen++
		}
	case "grow":
		block := make([]byte, n<<20)
		for i := 0; i < len(block); i += 1 << 16 {
			block[i] = 1
		}
		runtime.KeepAlive(block)
		say(first)
	default:
		say("unknown operation")
		return failed
	}
	return goOn
}

func say(text string) { answer = append(answer, text...) }

func sayInt(n int32) { say(strconv.Itoa(int(n))) }

func quotes(text string) string { return strings.ReplaceAll(text, "'", `"`) }

func number(text string) uint64 {
	n, _ := strconv.ParseUint(text, 10, 64)
	return n
}

func hexBits(text string) uint64 {
	n, _ := strconv.ParseUint(text, 16, 64)
	return n
}

func flush(piece int) {
	if len(answer) == 0 {
		hostOutput(at(answer), 0)
	}
	for len(answer) > 0 {
		n := min(piece, len(answer))
		hostOutput(at(answer), uint32(n))
		answer = answer[n:]
	}
}

func pointer(name string, ptr, length uint32) {
	switch name {
	case "input":
		wildInput(ptr, length)
	case "output":
		wildOutput(ptr, length)
	case "rpc":
		wildRPC(1, ptr, length)
	case "rpc_read":
		wildRPCRead(ptr, length)
	case "log":
		wildLog(1, ptr, length)
	}
}

// ask sends a request and returns the reply, and its length or the host's status.
func ask(chain uint64, request []byte, piece int) ([]byte, int32) {
	n := hostRPC(int64(chain), at(request), uint32(len(request)))
	if n < 0 {
		return nil, n
	}
	reply := pull(piece, hostRPCRead)
	if len(reply) != int(n) {
		return nil, -100
	}
	return reply, n
}

func request(method string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":[]}`
}

// callMethod says what became of one request, and whether it was answered.
func callMethod(chain uint64, method string) (answered bool, said string) {
	reply, status := ask(chain, []byte(request(method)), 1<<16)
	if status < 0 {
		return false, strconv.Itoa(int(status))
	}
	after := func(text, key string) string {
		_, text, _ = strings.Cut(text, key)
		text, _, _ = strings.Cut(text, `"`)
		return text
	}
	if _, refusal, refused := strings.Cut(string(reply), `"error"`); refused {
		return false, "rpc error: " + after(refusal, `"message":"`)
	}
	return true, after(string(reply), `"result":"`)
}

func double(op string, a, b float64) string {
	var r float64
	switch op {
	case "demote":
		return fmt.Sprintf("%08x", math.Float32bits(float32(a)))
	case "add":
		r = a + b
	case "sub":
		r = a - b
	case "mul":
		r = a * b
	case "div":
		r = a / b
	case "sqrt":
		r = math.Sqrt(a)
	}
	return fmt.Sprintf("%016x", math.Float64bits(r))
}

func single(op string, a, b float32) string {
	var r float32
	switch op {
	case "promote":
		return fmt.Sprintf("%016x", math.Float64bits(float64(a)))
	case "add":
		r = a + b
	case "sub":
		r = a - b
	case "mul":
		r = a * b
	case "div":
		r = a / b
	case "sqrt":
		r = float32(math.Sqrt(float64(a)))
	}
	return fmt.Sprintf("%08x", math.Float32bits(r))
}

func mix(rounds uint64) uint64 {
	var x, s uint64
	for range rounds {
		s += 0x9e3779b97f4a7c15
		z := s
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		x = bits.RotateLeft64(x, 1) ^ z ^ z>>31
	}
	return x
}

//go:noinline
func recurse(n uint32) uint32 {
	if n == 0 {
		return 1
	}
	return recurse(n-1)*31 ^ n
}
