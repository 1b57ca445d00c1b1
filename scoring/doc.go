// Package scoring turns what a plan did on a pinned chain into a number that
// miners are paid by.
//
// The core measures a plan's value where the app's manifest says what to
// measure: the net receipt of a token by an account, taken from a
// [chain.Outcome]. The app's own JavaScript then looks at the same outcome; it
// may veto the value or lower it, never raise it. Apps whose manifest declares
// no value are worth what their scorer says, and are marked so.
//
// A score is a pure function of an app, an [Input] and the engine's hash: no
// clock, no network, no map order, no float arithmetic. Two validators that hold
// the same outcome print the same digits, but for a plan whose cause is stalled.
//
// # The scorer
//
// An app's code is a CommonJS module that exports score(plan, state, context)
// and optionally validate, shouldTrigger, config and manifest, sync or async. It
// runs in QuickJS, compiled to WebAssembly (see engine/README.md), inside the
// sandbox that runs solvers. The module is evaluated once, when its app is loaded;
// every call goes on from a copy of what was there then, so none leaves a trace.
// While the module itself is evaluated the time is 0 and the seed zero; in a call Date is the
// pinned time, Math.random comes from the seed, ethCall and ethBlockNumber read
// the state after the plan, httpGet always rejects. There is no require, process
// or Buffer. Inputs enter as JSON, never as source text.
//
// The scorer is asked only about plans that succeeded and delivered the intent's
// minimum: nothing it could say would give the others a value.
//
// # Adoption
//
// [Adopt] says whether a challenger replaces the champion, by the values that both
// delivered order by order; [Winner] picks one of several. Both are integers only.
//
// # Faults
//
// What goes wrong has one of three owners, never mixed: the plan's miner gets a
// [Score] with a Cause; an app that does not load, or an intent that does not say
// what its app's manifest promises, is an [intent.AppFault]; everything else,
// an ended context included, is an [intent.InfraFault].
//
// Code that spends its fuel is the app's fault while the app loads, and on a plan
// gives the cause scorer_failed, the same on every host. So it is with a wall limit,
// but that the cause is stalled, the one that another host may not repeat; on a host
// that is too slow to blame the code, and on the interpreter, it is an infra fault.
//
// # Units
//
// Values are base units of a token, as decimal strings. Scores are decimals in
// [0,1] with at most 18 decimals, rounded towards zero.
package scoring
