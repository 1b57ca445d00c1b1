package scoring_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/subnet112/assay/intent"
	"github.com/subnet112/assay/sandbox"
)

// Whatever an app's code does costs the value of one plan, with a reason, and
// leaves the scorer ready for the next.
func TestAbuseCostsOneValue(t *testing.T) {
	// Code that never ends runs into the wall on every machine; a near one keeps
	// the test quick.
	l := patient()
	l.Wall = 100 * time.Millisecond
	hurried, unhurried := newScorer(t, compiled, l), newScorer(t, compiled, patient())
	for _, tt := range []struct {
		name, body string
		endless    bool
		says       string
	}{
		{"an endless loop", `for (;;);`, true, "the app's scorer was stopped after 100ms"},
		{"an endless chain of promises", `const f = () => Promise.resolve().then(f); f(); return 1;`, true, "the app's scorer was stopped after 100ms"},
		{"an endless await", `for (;;) await 0;`, true, "the app's scorer was stopped after 100ms"},
		{"a regular expression that backtracks", `return /^(a+)+$/.test("a".repeat(40) + "b") ? 1 : 0;`, true, "the app's scorer was stopped after 100ms"},
		{"a BigInt that doubles its digits", `let b = 3n; for (;;) { b *= b; }`, true, ""},
		{"a loop that catches everything", `for (;;) { try { null.x; } catch {} }`, true, "the app's scorer was stopped after 100ms"},
		{"recursion", `const f = (n) => 1 + f(n + 1); return f(0);`, false, "stack overflow"},
		{"recursion through a built-in", `const f = (n) => [n].map(f); return f(0);`, false, "stack overflow"},
		{"recursion through a proxy", `const p = new Proxy({}, { get: (t, k, r) => r[k] }); return p.x;`, false, "stack overflow"},
		{"nested JSON", `return JSON.parse("[".repeat(200000));`, false, "stack overflow"},
		{"nested source", `return eval("(".repeat(200000));`, false, "stack overflow"},
		{"a nested pattern", `return new RegExp("(?:".repeat(200000));`, false, "stack overflow"},
		{"an array too large", `return new ArrayBuffer(1 << 30);`, false, "out of memory"},
		{"a string too large", `let s = "x"; for (;;) s += s;`, false, "InternalError"},
		{"a result too large", `return { score: 1, reason: "x".repeat(300000) };`, false, "output"},
		{"a log too large", `for (let i = 0; i < 1000; i++) console.log("x".repeat(1000)); return 1;`, false, "log"},
		{"a cyclic result", `const o = { score: 1 }; o.o = o; return o;`, false, "circular"},
		{"a result that is a function", `return () => 1;`, false, "the result is a function"},
		{"a result that is a symbol", `return Symbol("x");`, false, "the result is a symbol"},
		{"an error that throws while it is read", `throw { toJSON() { throw 5 } };`, false, "an error that cannot be described"},
		{"a throw of nothing", `throw undefined;`, false, "threw undefined"},
		{"a thenable that never calls back", `return { then() {} };`, false, "never settled"},
		{"process", `return process.env;`, false, "ReferenceError"},
		{"process of another realm", `return this.constructor.constructor("return process")();`, false, "ReferenceError"},
		{"require", `return require("child_process");`, false, "TypeError"},
		{"a dynamic import", `return import("fs");`, false, "Error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := unhurried
			if tt.endless {
				s = hurried
			}
			a := load(t, s, valued(`exports.score = async function (plan, state, context) {`+tt.body+`};`))
			for range 2 { // the second is as the first: nothing was left behind
				got := score(t, a, input(250))
				cause := intent.CauseScorerFailed
				if tt.endless && (tt.says != "" || got.Cause == intent.CauseStalled) {
					// The row that says nothing may end by time or by memory first.
					cause = intent.CauseStalled
				}
				if got.Cause != cause || got.Value != "" || got.Credited != "" || got.Score != "0" {
					t.Errorf("Score = %+v, want no value for %s", got, cause)
				}
				if !strings.Contains(got.Reason, tt.says) || got.Reason == "" {
					t.Errorf("reason %s, want one that says %q", got.Reason, tt.says)
				}
				if tt.endless {
					break
				}
			}
		})
	}
}

// A wall that stops an app's code while it loads is the app's fault, for it must
// leave the pack; on the interpreter it says nothing about the code, nor about a
// plan that is scored.
func TestEndlessCodeWhileLoading(t *testing.T) {
	l := patient()
	l.LoadWall, l.Wall = 100*time.Millisecond, 100*time.Millisecond
	if _, err := newScorer(t, compiled, l).Load(t.Context(), app(`for (;;);`)); !isAppFault(err) || !strings.Contains(err.Error(), "stopped after 100ms") {
		t.Errorf("Load() = %v, want an app fault", err)
	}
	l.LoadWall = time.Millisecond // fifty times as long here
	if _, err := newScorer(t, interpreted, l).Load(t.Context(), app(`for (;;);`)); !isInfraFault(err) || !errors.Is(err, sandbox.ErrWall) {
		t.Errorf("interpreted, Load() = %v, want an infra fault", err)
	}
	l = patient()
	l.Wall = time.Millisecond
	a := load(t, newScorer(t, interpreted, l), valued(`exports.score = () => { for (;;); };`))
	if got, err := a.Score(t.Context(), input(250)); !isInfraFault(err) || !errors.Is(err, sandbox.ErrWall) {
		t.Errorf("interpreted, Score() = %+v, %v, want an infra fault", got, err)
	}
}

// Memory ends in an error that code may catch; the cap is the engine's, not the
// host's.
func TestMemoryIsBounded(t *testing.T) {
	a := load(t, newScorer(t, compiled, patient()), app(`exports.score = () => {
		const kept = [];
		try { for (;;) kept.push(new ArrayBuffer(1 << 20)); } catch (e) {
			const n = kept.length; kept.length = 0;
			return { score: 1, valid: false, reason: n > 20 && n < 64 && e.message };
		}
	};`))
	if got, want := score(t, a, input(1)).Reason, `"out of memory"`; got != want {
		t.Errorf("reason %s, want %s", got, want)
	}
}

// A program that overwrites what the engine works with hurts itself, and only in
// the instance that it ran in.
func TestOverwrittenBuiltinsStayInside(t *testing.T) {
	s := newScorer(t, compiled, patient())
	bent := load(t, s, valued(`
		JSON.stringify = JSON.parse = Reflect.apply = Function.prototype.call = Function.prototype.apply = null;
		Promise.prototype.then = Promise.resolve = null;
		String.prototype.slice = Array.isArray = BigInt = String = null;
		globalThis.ethCall = globalThis.console = null;
		exports.score = async () => ({ score: 1, metadata: { raw_output: 240n } });`))
	if got := score(t, bent, input(250)); got.Value != "240" {
		t.Errorf("Score = %+v, want the value 240", got)
	}
	plain := load(t, s, valued(`exports.score = () => (globalThis.seen = (globalThis.seen || 0) + 1) === 1 && typeof JSON.parse === "function" ? 1 : 0;`))
	for range 3 {
		if got := score(t, plain, input(250)); got.Value != "250" {
			t.Errorf("Score = %+v, want the value 250", got)
		}
	}
}
