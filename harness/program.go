package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/subnet112/assay/sandbox"
)

// MaxScriptBytes limits the text of a solver written in JavaScript.
const MaxScriptBytes = 16 << 20

// A Source is a solver as its miner hands it in.
type Source struct {
	Code   []byte // a WebAssembly module, or with Script the text of a CommonJS module in UTF-8
	Script bool
	Engine []byte // the JavaScript engine that runs a Script: a module that exports js_load besides the ABI
}

// Identity names a source by its content, whether it is admitted or not: a
// module by its bytes without custom sections, a script by the SHA-256 of the
// SHA-256 of its engine and its text. What is no module is named by all of its
// bytes.
func (s Source) Identity() [32]byte {
	if s.Script {
		engine := sha256.Sum256(s.Engine)
		return sha256.Sum256(append(engine[:], s.Code...))
	}
	id := sandbox.Identify(s.Code, Profile)
	if id == [32]byte{} {
		return sha256.Sum256(s.Code)
	}
	return id
}

// checkScript refuses what is no text of a script.
func (s Source) checkScript() *sandbox.Refusal {
	switch {
	case len(s.Code) == 0:
		return &sandbox.Refusal{Reason: sandbox.ReasonMalformed, Detail: "the script is empty"}
	case len(s.Code) > MaxScriptBytes:
		return &sandbox.Refusal{Reason: sandbox.ReasonSize, Detail: fmt.Sprintf("the script is larger than %d bytes", MaxScriptBytes)}
	}
	for i := 0; i < len(s.Code); {
		r, n := utf8.DecodeRune(s.Code[i:])
		if r == utf8.RuneError && n == 1 {
			return &sandbox.Refusal{Reason: sandbox.ReasonMalformed, Detail: fmt.Sprintf("the script is not UTF-8: byte 0x%02x at offset %d", s.Code[i], i)}
		}
		i += n
	}
	return nil
}

// A Program is what a session runs: a compiled module, which of a script is the
// engine, and the script that every instance of it loads. Any number of sessions
// may share one.
type Program struct {
	module   *sandbox.Module
	identity [32]byte
	size     int
	script   bool
	source   string
}

// Compile admits a source and compiles it; scripts share the code of their
// engine. The error is a [*sandbox.Refusal], or the host's own. A script is not
// looked at beyond its size and encoding: what its engine says of it, a session
// says when it starts. The program keeps the text of a script and nothing else of
// s; the caller closes it.
func Compile(ctx context.Context, e *sandbox.Engine, s Source) (*Program, error) {
	code, profile := s.Code, Profile
	if s.Script {
		if r := s.checkScript(); r != nil {
			return nil, r
		}
		code, profile = s.Engine, scriptProfile
	}
	m, err := e.Compile(ctx, code, profile)
	if err != nil {
		return nil, err
	}
	if !s.Script {
		return &Program{module: m, identity: m.Identity(), size: m.Size()}, nil
	}
	return &Program{module: m, identity: s.Identity(), size: len(s.Code), script: true, source: string(s.Code)}, nil
}

// Close gives the program up; see [sandbox.Module.Close].
func (p *Program) Close() { p.module.Close() }

// Identity is that of the source; see [Source.Identity].
func (p *Program) Identity() [32]byte { return p.identity }

// Size is that of the source in bytes.
func (p *Program) Size() int { return p.size }

// has reports whether an instance can be asked for a phase. Of a script that is
// for the script to say.
func (p *Program) has(phase Phase) bool { return p.module.Has(phase.export()) }

// loading is the input of js_load. It is not canonical JSON: the text is the
// miner's, whatever characters it has.
func (p *Program) loading(time uint64, seed [32]byte) ([]byte, error) {
	return json.Marshal(struct {
		Source string `json:"source"`
		Time   uint64 `json:"time"` // unix seconds
		Seed   string `json:"seed"`
	}{p.source, time, hex.EncodeToString(seed[:])})
}

// locating is the text of a script that fails as this one does, but says where. The
// engine runs a script as the body of a function, two lines below its head.
func (p *Program) locating() (string, error) {
	source, err := json.Marshal(p.source)
	if err != nil {
		return "", err
	}
	return `const body = ` + string(source) + `;
try {
	new Function("module", "exports", "require", body).call(exports, module, exports);
} catch (error) {
	let located = error;
	try {
		const at = /<input>:(\d+):(\d+)/.exec(error.stack);
		located = Object.assign(new Error(error.message + " (line " + (at[1] - 2) + ", column " + at[2] + ")"), { name: error.name });
	} catch {}
	throw located;
}`, nil
}
