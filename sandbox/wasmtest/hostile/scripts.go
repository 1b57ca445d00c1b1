package hostile

import "github.com/subnet112/assay/sandbox"

// scripts are programs for the JavaScript engine.
func scripts() []Guest {
	plan := func(body string) string {
		return "module.exports = { metadata: {}, initialize() {}, async generatePlan() {" + body + "} };"
	}
	return []Guest{
		{Name: "JS: endless loop", End: Spent, Script: plan(`for (;;);`)},
		{Name: "JS: regular expression that backtracks", End: Spent, Script: plan(`return /^(a+)+$/.test("a".repeat(40) + "b");`)},
		{Name: "JS: endless microtasks", End: Spent, Script: plan(`await new Promise(() => { const f = () => Promise.resolve().then(f); f(); });`)},
		{Name: "JS: promise that never settles", End: End{Status: 1, Output: ""}, Script: plan(`await new Promise(() => {});`)},
		{Name: "JS: JSON of 100,000 levels", End: fault(sandbox.CauseDepth, ""), Script: plan(`return JSON.parse("[".repeat(100000) + "]".repeat(100000));`)},
		{Name: "JS: source of 100,000 levels", End: fault(sandbox.CauseDepth, ""), Script: plan(`return new Function("return " + "(".repeat(100000) + "1" + ")".repeat(100000));`)},
		{Name: "JS: string that doubles", End: End{Status: 1, Output: "string too long"}, Script: plan(`for (let s = "x";;) s += s;`)},
		{Name: "JS: number that squares itself", End: Spent, Script: plan(`for (let b = 3n;;) b *= b;`)},
		{Name: "JS: array that grows", Large: true, Fuel: 20_000_000_000, End: End{Status: 1, Output: "out of memory"}, Script: plan(`const a = []; for (;;) a.push(new Uint8Array(1 << 20));`)},
		{Name: "JS: recursion", End: End{Status: 1, Output: "stack overflow"}, Script: plan(`const f = () => f() + 1; return f();`)},
		{Name: "JS: tampers with primordials", End: End{Output: `{"left":"intact"}`}, Script: tampering + plan(`return { left: "intact" };`)},
		{Name: "JS: leaves its function", End: End{Output: `{"left":"intact"}`}, Script: `globalThis.escaped = true;` + plan(`return { left: escaped && "intact" };`)},
		{Name: "JS: throws what can't be described", End: End{Status: 1, Output: "an error that cannot be described"}, Script: plan(`throw { toString() { throw 1; }, toJSON() { throw 2; } };`)},
		{Name: "JS: getter in its answer that never ends", End: Spent, Script: plan(`return { get plan() { for (;;); } };`)},
		{Name: "JS: endless loop at the top", Start: true, End: Spent, Script: `for (;;);`},
	}
}

// tampering replaces what a careless host would use after the program ran.
const tampering = `
const define = Object.defineProperty;
const evil = () => { throw new Error("tampered"); };
for (const [holder, names] of [
	[JSON, ["parse", "stringify"]],
	[Reflect, ["apply"]],
	[Promise, ["resolve", "reject", "all"]],
	[Promise.prototype, ["then", "catch", "finally"]],
	[Array, ["isArray", "from"]],
	[Array.prototype, ["push", "map", "forEach", "join", "toString"]],
	[String.prototype, ["slice", "toString", "valueOf"]],
	[Function.prototype, ["call", "apply", "bind", "toString"]],
	[Object, ["keys", "entries", "defineProperty", "getPrototypeOf"]],
	[Object.prototype, ["toString", "valueOf", "hasOwnProperty"]],
	[Error.prototype, ["toString"]],
	[ArrayBuffer, ["isView"]],
	[ArrayBuffer.prototype, ["slice"]],
]) for (const name of names) define(holder, name, { value: evil, writable: true, configurable: true });
for (const name of ["JSON", "Promise", "Array", "String", "Object", "Error", "Function", "BigInt", "ArrayBuffer", "Uint8Array", "parseInt", "console"]) globalThis[name] = evil;
`
