// The part of the engine that is JavaScript: the world a program sees, how the
// host's calls reach it, how its answers leave. It runs before any program and
// takes the built-ins it will need later at once, so that a program which
// overwrites them hurts only itself.
(function (native) {
  "use strict";

  const { parse, stringify } = JSON;
  const { apply } = Reflect;
  const { isView } = ArrayBuffer;
  const { defineProperty } = Object;
  const Text = String;
  const Integer = BigInt;
  const Buffer = ArrayBuffer;
  const Bytes = Uint8Array;
  const Compile = Function;
  const Failure = Error;
  const WrongType = TypeError;
  const parseNumber = parseInt;
  const { slice: sliceBuffer } = ArrayBuffer.prototype;
  const { slice: sliceText } = String.prototype;

  const OK = 0, FAILED = 1, NOT_IMPLEMENTED = 2;
  const ABSENT = [NOT_IMPLEMENTED, ""];
  const MESSAGE_CHARS = 1024;

  let program; // module.exports of the loaded program

  // ---- text ----

  // JSON has no BigInt and no NaN: a BigInt leaves as a decimal string, and a
  // number that is not finite leaves as its name, so that the host can say why
  // it refuses it.
  function portable(key, value) {
    if (typeof value === "bigint") return Text(value);
    if (typeof value === "number" && value - value !== 0) return Text(value);
    return value;
  }

  function encode(value) {
    if (value === undefined) return "null";
    const text = stringify(value, portable);
    if (text === undefined) throw new WrongType("the result is a " + typeof value);
    return text;
  }

  function describe(error) {
    try {
      const text = error instanceof Failure ? Text(error) : "threw " + show(error);
      return apply(sliceText, text, [0, MESSAGE_CHARS]);
    } catch {
      return "an error that cannot be described";
    }
  }

  function show(value) {
    if (typeof value === "string") return value;
    if (typeof value !== "object" || value === null) return Text(value);
    if (value instanceof Failure) return Text(value);
    return stringify(value, portable);
  }

  // ---- the world ----

  function define(target, name, value) {
    defineProperty(target, name, { value, writable: true, configurable: true, enumerable: false });
  }

  function logger(level) {
    return function (...values) {
      let line = "";
      for (let i = 0; i < values.length; i++) {
        let part;
        try {
          part = show(values[i]);
        } catch {
          part = "[unprintable]";
        }
        line += (i ? " " : "") + part;
      }
      native.log(level, line);
    };
  }

  const refusals = { "-1": "unknown chain", "-2": "over the budget of reads", "-3": "the reply is too large" };

  function ask(chainId, method, params) {
    const chain = Integer(chainId);
    const known = chain >= 0n && chain < 1n << 63n;
    const reply = known ? native.rpc(chain, stringify({ jsonrpc: "2.0", id: 1, method, params })) : -1;
    if (typeof reply === "number") throw new Failure(method + ": " + (refusals[reply] || "refused") + " (chain " + chain + ")");
    const answer = parse(reply);
    if (answer.error) throw new Failure("RPC error: " + answer.error.message);
    return answer.result;
  }

  const world = {
    global: globalThis,
    console: {
      debug: logger(0),
      log: logger(1),
      info: logger(1),
      warn: logger(2),
      error: logger(3),
    },
    async rpc(chainId, method, params) {
      return ask(chainId, method, params);
    },
    async ethCall(chainId, to, data, blockTag = "latest") {
      return ask(chainId, "eth_call", [{ to, data }, blockTag]);
    },
    async ethBlockNumber(chainId) {
      return parseNumber(ask(chainId, "eth_blockNumber", []), 16);
    },
    async httpGet() {
      throw new Failure("httpGet: there is no network here");
    },
  };
  for (const name in world) define(globalThis, name, world[name]);
  define(Math, "random", native.random);

  // pin sets the time (unix seconds) and the random seed (at least 16 hex digits).
  function pin({ time, seed }) {
    native.pin(time, parseNumber(apply(sliceText, seed, [0, 8]), 16), parseNumber(apply(sliceText, seed, [8, 16]), 16));
  }

  // ---- what the host calls ----

  function json(input) {
    return parse(native.text(input));
  }

  // find gives the program's function of either spelling, bound to the program.
  function find(camel, snake) {
    const method = typeof program[camel] === "function" ? program[camel] : program[snake];
    return typeof method === "function" && ((...values) => apply(method, program, values));
  }

  function value(name) {
    return program[name] === undefined ? ABSENT : [OK, encode(program[name])];
  }

  // scorer makes a call of the scorer profile: its input carries the pinned time
  // and seed, and the parts of the context that are one object under two names.
  function scorer(camel, run) {
    return async function (input) {
      const request = json(input);
      pin(request);
      const { plan, state, context } = request;
      context.state = state;
      context.simulator = context.simulation;
      const method = find(camel, camel);
      return method ? [OK, encode(await run(method, plan, state, context))] : ABSENT;
    };
  }

  // solver makes a call of the solver profile: arguments picks the method's
  // arguments from the ABI's input, and result shapes its answer.
  function solver(camel, snake, pick, result = encode) {
    return async function (input) {
      const method = find(camel, snake);
      return method ? [OK, result(await method(...pick(input)))] : ABSENT;
    };
  }

  const whole = (input) => [json(input)];
  const nothing = () => "";
  const request = (input) => {
    const { intent, state, snapshot, intent_id } = json(input);
    return [intent, state, snapshot, intent_id];
  };

  function rawBytes(state) {
    if (state === undefined || state === null) return "";
    if (typeof state === "string") return state;
    if (state instanceof Buffer) return state;
    if (isView(state)) return apply(sliceBuffer, state.buffer, [state.byteOffset, state.byteOffset + state.byteLength]);
    throw new WrongType("the state is neither bytes nor a string");
  }

  const calls = {
    __proto__: null,

    async js_load(input) {
      const load = json(input);
      pin(load);
      const module = { exports: {} };
      const run = Compile("module", "exports", "require", load.source);
      apply(run, module.exports, [module, module.exports, undefined]);
      if ((typeof module.exports !== "object" && typeof module.exports !== "function") || module.exports === null) {
        throw new WrongType("module.exports is not an object");
      }
      program = module.exports;
      const kinds = {};
      for (const name of ["score", "validate", "shouldTrigger", "config", "manifest"]) kinds[name] = typeof program[name];
      return [OK, stringify(kinds)];
    },

    scorer_config: async () => value("config"),
    scorer_manifest: async () => value("manifest"),
    scorer_score: scorer("score", (score, plan, state, context) => score(plan, state, context)),
    scorer_validate: scorer("validate", (validate, plan, state, context) => validate(plan, state, context)),
    scorer_should_trigger: scorer("shouldTrigger", async (test, plan, state, context) => ({ trigger: !!(await test(state, context)) })),

    async solver_metadata() {
      const method = find("metadata", "metadata");
      return method ? [OK, encode(await method())] : value("metadata");
    },
    solver_initialize: solver("initialize", "initialize", whole, nothing),
    solver_restore_state: solver("restoreState", "restore_state", (input) => [new Bytes(input)], nothing),
    solver_set_market: solver("setMarket", "set_market", whole, nothing),
    solver_on_benchmark_start: solver("onBenchmarkStart", "on_benchmark_start", (input) => [json(input).intent_count], nothing),
    solver_check_trigger: solver("checkTrigger", "check_trigger", request, (trigger) => encode({ trigger: !!trigger })),
    solver_generate_plan: solver("generatePlan", "generate_plan", request),
    solver_quote: solver("quote", "quote", request),
    solver_on_benchmark_end: solver("onBenchmarkEnd", "on_benchmark_end", whole, nothing),
    solver_serialize_state: solver("serializeState", "serialize_state", () => [], rawBytes),
  };

  return async function dispatch(name, input) {
    try {
      if (name !== "js_load" && program === undefined) throw new Failure("no program is loaded");
      return await calls[name](input);
    } catch (error) {
      return [FAILED, describe(error)];
    }
  };
})
