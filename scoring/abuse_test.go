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
	// Less fuel keeps the test quick.
	l := patient()
	l.Fuel = 400_000_000
	s := newScorer(t, compiled, l)
	const spent = "fuel: all 400,000,000 are spent"
	for _, tt := range []struct {
		name, body string
		says       string
	}{
		{"an endless loop", `for (;;);`, spent},
		{"an endless chain of promises", `const f = () => Promise.resolve().then(f); f(); return 1;`, spent},
		{"an endless await", `for (;;) await 0;`, spent},
		{"a regular expression that backtracks", `return /^(a+)+$/.test("a".repeat(40) + "b") ? 1 : 0;`, spent},
		{"a BigInt that doubles its digits", `let b = 3n; for (;;) { b *= b; }`, spent},
		{"a loop that catches everything", `for (;;) { try { null.x; } catch {} }`, spent},
		{"recursion", `const f = (n) => 1 + f(n + 1); return f(0);`, "stack overflow"},
		{"recursion through a built-in", `const f = (n) => [n].map(f); return f(0);`, "stack overflow"},
		{"recursion through a proxy", `const p = new Proxy({}, { get: (t, k, r) => r[k] }); return p.x;`, "depth: calls nest too deep"},
		{"nested JSON", `return JSON.parse("[".repeat(200000));`, "depth: calls nest too deep"},
		{"nested source", `return eval("(".repeat(200000));`, "depth: calls nest too deep"},
		{"a nested pattern", `return new RegExp("(?:".repeat(200000));`, "depth: calls nest too deep"},
		{"an array too large", `return new ArrayBuffer(1 << 30);`, "out of memory"},
		{"a string too large", `let s = "x"; for (;;) s += s;`, "InternalError"},
		{"a result too large", `return { score: 1, reason: "x".repeat(300000) };`, "output"},
		{"a log too large", `for (let i = 0; i < 1000; i++) console.log("x".repeat(1000)); return 1;`, "log"},
		{"a cyclic result", `const o = { score: 1 }; o.o = o; return o;`, "circular"},
		{"a result that is a function", `return () => 1;`, "the result is a function"},
		{"a result that is a symbol", `return Symbol("x");`, "the result is a symbol"},
		{"an error that throws while it is read", `throw { toJSON() { throw 5 } };`, "an error that cannot be described"},
		{"a throw of nothing", `throw undefined;`, "threw undefined"},
		{"a thenable that never calls back", `return { then() {} };`, "never settled"},
		{"process", `return process.env;`, "ReferenceError"},
		{"process of another realm", `return this.constructor.constructor("return process")();`, "ReferenceError"},
		{"require", `return require("child_process");`, "TypeError"},
		{"a dynamic import", `return import("fs");`, "Error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := load(t, s, valued(`exports.score = async function (plan, state, context) {`+tt.body+`};`))
			for range 2 { // the second is as the first: nothing was left behind
				got := score(t, a, input(250))
				if got.Cause != intent.CauseScorerFailed || got.Value != "" || got.Credited != "" || got.Score != "0" {
					t.Errorf("Score = %+v, want no value for scorer_failed", got)
				}
				if !strings.Contains(got.Reason, tt.says) || got.Reason == "" {
					t.Errorf("reason %s, want one that says %q", got.Reason, tt.says)
				}
			}
		})
	}
}

// Code that never ends spends its fuel, and that is the app's fault while it loads,
// for it must leave the pack.
func TestEndlessCodeWhileLoading(t *testing.T) {
	l := patient()
	l.LoadFuel = 50_000_000
	for _, e := range []*engine{compiled, interpreted} {
		if _, err := newScorer(t, e, l).Load(t.Context(), app(`for (;;);`)); !isAppFault(err) || !strings.Contains(err.Error(), "fuel: all 50,000,000 are spent") {
			t.Errorf("Load() = %v, want an app fault", err)
		}
	}
}

// A wall that is reached before the fuel is spent says of the code that another host
// may be faster. On the interpreter it says nothing.
func TestWallStops(t *testing.T) {
	l := patient()
	l.LoadWall, l.Wall = 100*time.Millisecond, 100*time.Millisecond
	l.LoadFuel, l.Fuel = 1<<50, 1<<50
	if _, err := newScorer(t, compiled, l).Load(t.Context(), app(`for (;;);`)); !isAppFault(err) || !strings.Contains(err.Error(), "stopped after 100ms") {
		t.Errorf("Load() = %v, want an app fault", err)
	}
	slow := valued(`exports.score = () => { for (;;); };`)
	if got := score(t, load(t, newScorer(t, compiled, l), slow), input(250)); got.Cause != intent.CauseStalled || got.Value != "" || got.Reason != "the app's scorer was stopped after 100ms" {
		t.Errorf("Score() = %+v, want stalled", got)
	}
	l.LoadWall = time.Millisecond // fifty times as long here
	if _, err := newScorer(t, interpreted, l).Load(t.Context(), app(`for (;;);`)); !isInfraFault(err) || !errors.Is(err, sandbox.ErrWall) {
		t.Errorf("interpreted, Load() = %v, want an infra fault", err)
	}
	l = patient()
	l.Wall, l.Fuel = time.Millisecond, 1<<50
	a := load(t, newScorer(t, interpreted, l), slow)
	if got, err := a.Score(t.Context(), input(250)); !isInfraFault(err) || !errors.Is(err, sandbox.ErrWall) {
		t.Errorf("interpreted, Score() = %+v, %v, want an infra fault", got, err)
	}
	// Whether an intent was due nobody knows then.
	l = patient()
	l.Wall, l.Fuel = 100*time.Millisecond, 1<<50
	due := load(t, newScorer(t, compiled, l), app(accept+`exports.shouldTrigger = () => { for (;;); };`))
	in := input(1)
	in.Outcome = nil
	if got, err := due.ShouldTrigger(t.Context(), in); !isInfraFault(err) {
		t.Errorf("ShouldTrigger() = %t, %v, want an infra fault", got, err)
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

// A program that overwrites what the engine works with hurts itself alone; one that
// counts its calls starts from the same count in each.
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
