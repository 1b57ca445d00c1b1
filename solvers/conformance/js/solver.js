// The conformance guest in JavaScript: see ../README.md for what it has to do.
// The engine reads the input, decodes and encodes, so a script here sees values
// where the other guests see bytes: the suite names what that leaves out.
"use strict";

const plan = {
  intent_id: "conformance",
  interactions: [{ target: "0x00000000000000000000000000000000000000aa", value: "0", call_data: "0x" }],
  deadline: 4102444800,
  nonce: 1,
};

// What the guest keeps.
let init = "";
let state = new Uint8Array(0);
let input; // of the running call: text, or bytes in restoreState
let answer; // of the running call: texts and bytes

// ---- bytes and text ----

const binary = (bytes) => {
  let text = "";
  for (let i = 0; i < bytes.length; i += 4096) text += String.fromCharCode(...bytes.subarray(i, i + 4096));
  return text;
};
const textOf = (part) => (typeof part === "string" ? part : decodeURIComponent(escape(binary(part))));
const bytesOf = (part) =>
  typeof part === "string" ? Uint8Array.from(unescape(encodeURIComponent(part)), (c) => c.charCodeAt(0)) : part;

const text = () => answer.map(textOf).join("");

function bytes() {
  const parts = answer.map(bytesOf);
  if (parts.length === 1) return parts[0];
  const all = new Uint8Array(parts.reduce((n, part) => n + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

const say = (part) => answer.push(part);
const hex = (n, digits) => n.toString(16).padStart(digits, "0");
const quotes = (s) => s.replaceAll("'", '"');

// fill makes n bytes, the i-th i mod 251, by doubling what is there.
function fill(n) {
  const all = new Uint8Array(n);
  for (let i = 0; i < Math.min(n, 251); i++) all[i] = i;
  for (let have = 251; have < n; have *= 2) all.copyWithin(have, 0, have);
  return all;
}

// ---- reads ----

const refusals = [["unknown chain", "-1"], ["over the budget", "-2"], ["too large", "-3"]];

// callMethod says what became of one request, and whether it was answered.
async function callMethod(chain, method) {
  try {
    return [true, await rpc(chain, method, [])];
  } catch (error) {
    const message = error.message;
    if (message.startsWith("RPC error: ")) return [false, "rpc error: " + message.slice("RPC error: ".length)];
    const known = refusals.find(([words]) => message.includes(words));
    return [false, known ? known[1] : message];
  }
}

const emptyRequest = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "", params: [] });

// ---- arithmetic ----

const view = new DataView(new ArrayBuffer(8));

function fromBits(text, width) {
  view.setBigUint64(0, 0n);
  if (width === 64) view.setBigUint64(0, BigInt("0x" + text));
  else view.setUint32(0, Number("0x" + text));
  return width === 64 ? view.getFloat64(0) : view.getFloat32(0);
}

function toBits(value, width) {
  if (width === 64) view.setFloat64(0, value);
  else view.setFloat32(0, value);
  return width === 64 ? hex(view.getBigUint64(0), 16) : hex(view.getUint32(0), 8);
}

function float(width, op, first, second) {
  const a = fromBits(first, width), b = second ? fromBits(second, width) : 0;
  switch (op) {
    case "demote": return toBits(a, 32);
    case "promote": return toBits(a, 64);
    case "add": return toBits(a + b, width);
    case "sub": return toBits(a - b, width);
    case "mul": return toBits(a * b, width);
    case "div": return toBits(a / b, width);
    case "sqrt": return toBits(Math.sqrt(a), width);
  }
}

function mix(rounds) {
  const wrap = (n) => BigInt.asUintN(64, n);
  let x = 0n, s = 0n;
  while (rounds--) {
    s = wrap(s + 0x9e3779b97f4a7c15n);
    let z = s;
    z = wrap((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = wrap((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    x = wrap(x << 1n) | (x >> 63n);
    x ^= z ^ (z >> 31n);
  }
  return hex(x, 16);
}

const recurse = (n) => (n === 0 ? 1 : (Math.imul(recurse(n - 1), 31) ^ n) >>> 0);

// ---- operations ----

class Ended extends Error {
  get name() {
    return ""; // the message of status 1 is then the text alone
  }
}

const operations = {
  say,
  json: (args) => say(quotes(args)),
  hex: (args) => say(Uint8Array.from(args.match(/../g) || [], (h) => parseInt(h, 16))),
  repeat(args) {
    const [n, rest] = cut(args, " ");
    say(rest.repeat(n));
  },
  fill: (n) => say(fill(Number(n))),
  echo: () => say(input),
  keep() {
    state = bytes();
    answer = [];
  },
  state: () => say(state),
  fail() {
    throw new Ended(text());
  },
  log(args) {
    const [level, line] = cut(args, " ");
    const log = [console.debug, console.log, console.warn, console.error][level];
    log(line);
  },
  logfill: (n) => console.log("x".repeat(Number(n))),
  async read(args) {
    say((await callMethod(...cut(args, " ")))[1]);
  },
  async reads(args) {
    const [n, rest] = cut(args, " ");
    let answered = 0, ok, last;
    for (let i = 0; i < n; i++) {
      [ok, last] = await callMethod(...cut(rest, " "));
      if (ok) answered++;
    }
    say(answered + " " + last);
  },
  async big(args) {
    const [chain, size] = cut(args, " ");
    const [ok, said] = await callMethod(chain, "m".repeat(size - emptyRequest.length));
    say(ok ? "answered" : said);
  },
  clock: () => say(String(Math.floor(Date.now() / 1000))),
  random(n) {
    for (let i = 0; i < n; i++) say(hex(Math.floor(Math.random() * 256), 2));
  },
  f64: (args) => say(float(64, ...args.split(" "))),
  f32: (args) => say(float(32, ...args.split(" "))),
  mix: (n) => say(mix(Number(n))),
  recurse: (n) => say(String(recurse(Number(n)))),
  spin() {
    for (;;);
  },
  grow(n) {
    const block = new Uint8Array(n << 20);
    for (let i = 0; i < block.length; i += 1 << 16) block[i] = 1;
    say(n);
  },
};

function cut(s, separator) {
  const i = s.indexOf(separator);
  return i < 0 ? [s, ""] : [s.slice(0, i), s.slice(i + 1)];
}

async function run(script) {
  for (const step of script.split(";")) {
    if (step === "") continue;
    const [op, args] = cut(step, " ");
    if (!Object.hasOwn(operations, op)) {
      say("unknown operation");
      throw new Ended(text());
    }
    await operations[op](args);
  }
}

// ---- calls ----

// script finds the string that begins with a name in a JSON text.
function script(text, name) {
  const at = typeof text === "string" ? text.indexOf('"' + name + " ") : -1;
  return at < 0 ? undefined : text.slice(at + name.length + 2, text.indexOf('"', at + 1));
}

// call runs the script of a call, if there is one, and tells whether there was.
async function call(name, given) {
  input = given;
  answer = [];
  const found = script(given, name) ?? script(init, name);
  if (found === undefined) return false;
  await run(found);
  return true;
}

const requestText = (intent, state, snapshot, id) => JSON.stringify({ intent, intent_id: id, snapshot, state });

module.exports = {
  async metadata() {
    return (await call("metadata", "")) ? JSON.parse(text()) : { name: "conformance", version: "1.0.0", author: "assay" };
  },
  async initialize(config) {
    init = JSON.stringify(config);
    // The engine says "not implemented" for a function that isn't there.
    for (const [name, method] of Object.entries(methods)) {
      if (script(init, name) === "absent") delete module.exports[method];
    }
    await call("initialize", init);
  },
  async restoreState(bytes) {
    if (!(await call("restore_state", bytes))) state = bytes;
  },
  async setMarket(snapshot) {
    await call("set_market", JSON.stringify(snapshot));
  },
  async onBenchmarkStart(count) {
    await call("on_benchmark_start", JSON.stringify({ intent_count: count }));
  },
  async checkTrigger(...request) {
    return (await call("check_trigger", requestText(...request))) ? JSON.parse(text()).trigger : true;
  },
  async generatePlan(...request) {
    return (await call("generate_plan", requestText(...request))) ? JSON.parse(text()) : plan;
  },
  async quote(...request) {
    return (await call("quote", requestText(...request))) ? JSON.parse(text()) : { estimated_output: "1" };
  },
  async onBenchmarkEnd(results) {
    await call("on_benchmark_end", JSON.stringify(results));
  },
  async serializeState() {
    return (await call("serialize_state", "")) ? bytes() : state;
  },
};

const methods = {
  restore_state: "restoreState",
  set_market: "setMarket",
  on_benchmark_start: "onBenchmarkStart",
  check_trigger: "checkTrigger",
  generate_plan: "generatePlan",
  quote: "quote",
  on_benchmark_end: "onBenchmarkEnd",
  serialize_state: "serializeState",
};
