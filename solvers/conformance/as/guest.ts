// The conformance guest in AssemblyScript: see ../README.md for what it has to do.

import { Bytes, Slice, literal } from "./bytes";

@external("assay", "input") declare function hostInput(ptr: usize, cap: u32): i32;
@external("assay", "output") declare function hostOutput(ptr: usize, len: u32): void;
@external("assay", "rpc") declare function hostRpc(chain: i64, ptr: usize, len: u32): i32;
@external("assay", "rpc_read") declare function hostRpcRead(ptr: usize, cap: u32): i32;
@external("assay", "log") declare function hostLog(level: i32, ptr: usize, len: u32): void;

// AssemblyScript's library has no WASI.
@external("wasi_snapshot_preview1", "clock_time_get") declare function clockTimeGet(id: i32, precision: i64, out: usize): i32;
@external("wasi_snapshot_preview1", "random_get") declare function randomGet(ptr: usize, len: u32): i32;
@external("wasi_snapshot_preview1", "fd_write") declare function fdWrite(fd: i32, vectors: usize, n: i32, written: usize): i32;
@external("wasi_snapshot_preview1", "poll_oneoff") declare function pollOneoff(list: usize, events: usize, n: i32, count: usize): i32;
@external("wasi_snapshot_preview1", "proc_exit") declare function procExit(code: i32): void;

// What the compiler would import from a browser: a failed check is a trap.
function abort(message: string | null, file: string | null, line: u32, column: u32): void {
  unreachable();
}

const OK = 0, FAILED = 1, NOT_IMPLEMENTED = 2;
const GO_ON = i32.MIN_VALUE; // the script isn't at its end

// ---- what the guest keeps ----

let init = new Bytes();
let state = new Bytes();
let input = new Bytes();
let inputLen: u32 = 0;
let answer = new Bytes();
let reply = new Bytes();
const scratch = memory.data(64, 8);

// pull appends the next bytes of the input, at most piece, and returns how many.
function pull(b: Bytes, piece: i32): i32 {
  const n = hostInput(b.room(piece), piece);
  if (n > 0) b.len += n;
  return n;
}

// pullReply is pull from the reply.
function pullReply(b: Bytes, piece: i32): i32 {
  const n = hostRpcRead(b.room(piece), piece);
  if (n > 0) b.len += n;
  return n;
}

// ---- reads ----

// ask reads the reply in pieces; the result is OK or the host's negative status.
function ask(chain: u64, request: Slice, piece: i32): i32 {
  reply = new Bytes();
  const len = hostRpc(chain, request.ptr, request.len);
  if (len < 0) return len;
  while (pullReply(reply, piece) > 0);
  return reply.len == len ? OK : -100;
}

const beforeMethod = literal('{"jsonrpc":"2.0","id":1,"method":"');
const afterMethod = literal('","params":[]}');
const errorKey = literal('"error"');
const messageKey = literal('"message":"');
const resultKey = literal('"result":"');

// member says the string that follows a key.
function member(text: Slice, key: Bytes, out: Bytes): void {
  const at = text.find(key.slice);
  if (at >= 0) out.put(text.from(at + key.len).before(0x22));
}

// callMethod says what became of one request.
function callMethod(chain: u64, method: Slice, out: Bytes): i32 {
  const request = new Bytes();
  request.put(beforeMethod.slice);
  request.put(method);
  request.put(afterMethod.slice);
  const status = ask(chain, request.slice, 1 << 16);
  if (status < 0) {
    out.say(status.toString());
    return status;
  }
  const refused = reply.slice.find(errorKey.slice);
  if (refused >= 0) {
    out.say("rpc error: ");
    member(reply.slice.from(refused), messageKey, out);
    return FAILED;
  }
  member(reply.slice, resultKey, out);
  return OK;
}

// ---- arithmetic ----

function double(op: string, a: f64, b: f64): void {
  if (op == "demote") {
    answer.hex(reinterpret<u32>(<f32>a), 8);
    return;
  }
  let r: f64 = 0;
  if (op == "add") r = a + b;
  else if (op == "sub") r = a - b;
  else if (op == "mul") r = a * b;
  else if (op == "div") r = a / b;
  else if (op == "sqrt") r = sqrt<f64>(a);
  answer.hex(reinterpret<u64>(r), 16);
}

function single(op: string, a: f32, b: f32): void {
  if (op == "promote") {
    answer.hex(reinterpret<u64>(<f64>a), 16);
    return;
  }
  let r: f32 = 0;
  if (op == "add") r = a + b;
  else if (op == "sub") r = a - b;
  else if (op == "mul") r = a * b;
  else if (op == "div") r = a / b;
  else if (op == "sqrt") r = sqrt<f32>(a);
  answer.hex(reinterpret<u32>(r), 8);
}

function mix(rounds: u64): u64 {
  let x: u64 = 0, s: u64 = 0;
  while (rounds--) {
    s += 0x9e3779b97f4a7c15;
    let z = s;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    x = rotl<u64>(x, 1) ^ z ^ (z >> 31);
  }
  return x;
}

function recurse(n: u32): u32 {
  return n == 0 ? 1 : (recurse(n - 1) * 31) ^ n;
}

// ---- the rest of the world ----

function now(): u64 {
  if (clockTimeGet(0, 0, scratch)) unreachable();
  return load<u64>(scratch);
}

function sleep(ms: u64): void {
  const subscription = new StaticArray<u8>(48), events = new StaticArray<u8>(32);
  const at = changetype<usize>(subscription);
  store<u32>(at, 1, 16); // the monotonic clock
  store<u64>(at, ms * 1_000_000, 24);
  if (pollOneoff(at, changetype<usize>(events), 1, scratch)) unreachable();
}

function print(text: Slice): void {
  const line = new Bytes();
  line.put(text);
  line.byte(0x0a);
  store<u32>(scratch, <u32>line.ptr);
  store<u32>(scratch, line.len, 4);
  if (fdWrite(1, scratch, 1, scratch + 8)) unreachable();
}

function pointer(name: string, ptr: u32, len: u32): void {
  if (name == "input") hostInput(ptr, len);
  else if (name == "output") hostOutput(ptr, len);
  else if (name == "rpc") hostRpc(1, ptr, len);
  else if (name == "rpc_read") hostRpcRead(ptr, len);
  else if (name == "log") hostLog(1, ptr, len);
}

function flush(piece: i32): void {
  if (answer.len == 0) hostOutput(answer.ptr, 0);
  for (let i = 0; i < answer.len; i += piece) hostOutput(answer.ptr + i, min(piece, answer.len - i));
  answer = new Bytes();
}

// ---- operations ----

// step does one operation and returns the status that ends the script, or GO_ON.
function step(op: string, args: Slice): i32 {
  const first = args.before(0x20), rest = args.after(0x20);
  const second = rest.before(0x20), tail = rest.after(0x20);
  const n = first.number();
  if (op == "say") {
    answer.put(args);
  } else if (op == "json") {
    answer.quotes(args);
  } else if (op == "hex") {
    for (let i = 0; i + 1 < args.len; i += 2) answer.byte(<u8>new Slice(args.ptr + i, 2).bits());
  } else if (op == "repeat") {
    for (let i: u64 = 0; i < n; i++) answer.put(rest);
  } else if (op == "fill") {
    const to = answer.room(<i32>n);
    for (let i: u32 = 0; i < <u32>n; i++) store<u8>(to + i, <u8>(i % 251));
    answer.len += <i32>n;
  } else if (op == "echo") {
    answer.put(input.slice);
  } else if (op == "length") {
    answer.say(inputLen.toString());
  } else if (op == "more") {
    answer.say(hostInput(scratch, 16).toString());
  } else if (op == "keep") {
    state = answer;
    answer = new Bytes();
  } else if (op == "state") {
    answer.put(state.slice);
  } else if (op == "flush") {
    flush(answer.len);
  } else if (op == "pieces") {
    flush(<i32>n);
  } else if (op == "fail") {
    return FAILED;
  } else if (op == "absent") {
    return NOT_IMPLEMENTED;
  } else if (op == "status") {
    return <i32>n;
  } else if (op == "trap") {
    unreachable();
  } else if (op == "exit") {
    procExit(<i32>n);
  } else if (op == "pointer") {
    pointer(first.text(), <u32>second.number(), <u32>tail.number());
  } else if (op == "log") {
    hostLog(<i32>n, rest.ptr, rest.len);
  } else if (op == "logfill") {
    const line = new StaticArray<u8>(<i32>n);
    memory.fill(changetype<usize>(line), 0x78, <usize>n);
    hostLog(1, changetype<usize>(line), <u32>n);
  } else if (op == "print") {
    print(args);
  } else if (op == "read") {
    callMethod(n, rest, answer);
  } else if (op == "reads") {
    let answered = 0, last = new Bytes();
    for (let i: u64 = 0; i < n; i++) {
      last.len = 0;
      if (callMethod(second.number(), tail, last) == OK) answered++;
    }
    answer.say(answered.toString() + " ");
    answer.put(last.slice);
  } else if (op == "big") {
    const method = new StaticArray<u8>(<i32>rest.number() - beforeMethod.len - afterMethod.len);
    memory.fill(changetype<usize>(method), 0x6d, method.length);
    const said = new Bytes();
    if (callMethod(n, new Slice(changetype<usize>(method), method.length), said) == OK) answer.say("answered");
    else answer.put(said.slice);
  } else if (op == "raw") {
    const request = new Bytes();
    request.quotes(tail);
    const status = ask(n, request.slice, <i32>second.number());
    answer.say((status < 0 ? status : reply.len).toString() + " ");
    answer.put(reply.slice);
  } else if (op == "peek") {
    answer.say(hostRpcRead(scratch, 16).toString());
  } else if (op == "clock") {
    answer.say((now() / 1_000_000_000).toString());
  } else if (op == "ticks") {
    const before = now();
    answer.say(now() > before ? "later" : "same");
  } else if (op == "sleep") {
    sleep(n);
  } else if (op == "random") {
    const random = new StaticArray<u8>(<i32>n);
    if (randomGet(changetype<usize>(random), <u32>n)) unreachable();
    for (let i = 0; i < random.length; i++) answer.hex(random[i], 2);
  } else if (op == "f64") {
    double(first.text(), reinterpret<f64>(second.bits()), reinterpret<f64>(tail.bits()));
  } else if (op == "f32") {
    single(first.text(), reinterpret<f32>(<u32>second.bits()), reinterpret<f32>(<u32>tail.bits()));
  } else if (op == "mix") {
    answer.hex(mix(n), 16);
  } else if (op == "recurse") {
    answer.say(recurse(<u32>n).toString());
  } else if (op == "spin") {
    while (true) inputLen++;
  } else if (op == "grow") {
    const block = new StaticArray<u8>(<i32>n << 20);
    for (let i = 0; i < block.length; i += 1 << 16) block[i] = 1;
    answer.say(n.toString());
  } else {
    answer.say("unknown operation");
    return FAILED;
  }
  return GO_ON;
}

function run(script: Slice): i32 {
  while (script.len > 0) {
    const op = script.before(0x3b);
    script = script.after(0x3b);
    const status = step(op.before(0x20).text(), op.after(0x20));
    if (status != GO_ON) return status;
  }
  return OK;
}

// ---- calls ----

// script finds the string that begins with a name in a JSON text.
function script(text: Bytes, name: string): Slice | null {
  const needle = literal('"' + name + " ");
  const at = text.slice.find(needle.slice);
  return at < 0 ? null : text.slice.from(at + needle.len).before(0x22);
}

function call(name: string, len: u32, otherwise: string): i32 {
  const size = script(init, "input");
  const piece = size === null ? 1 << 20 : <i32>size.number();
  answer = new Bytes();
  input = new Bytes();
  inputLen = len;
  while (pull(input, piece) > 0);
  if (name == "initialize") init = input;

  let status = OK, found = script(input, name);
  if (found === null) found = script(init, name);
  if (found !== null) status = run(found);
  else if (name == "restore_state") state = input;
  else if (name == "serialize_state") answer.put(state.slice);
  else answer.say(otherwise);
  if (answer.len > 0) hostOutput(answer.ptr, answer.len);
  return status;
}

export function solver_abi(): i32 {
  return 1;
}

export function solver_metadata(len: u32): i32 {
  return call("metadata", len, '{"name":"conformance","version":"1.0.0","author":"assay"}');
}

export function solver_initialize(len: u32): i32 {
  return call("initialize", len, "");
}

export function solver_restore_state(len: u32): i32 {
  return call("restore_state", len, "");
}

export function solver_set_market(len: u32): i32 {
  return call("set_market", len, "");
}

export function solver_on_benchmark_start(len: u32): i32 {
  return call("on_benchmark_start", len, "");
}

export function solver_check_trigger(len: u32): i32 {
  return call("check_trigger", len, '{"trigger":true}');
}

export function solver_generate_plan(len: u32): i32 {
  return call(
    "generate_plan",
    len,
    '{"intent_id":"conformance","interactions":[{"target":"0x00000000000000000000000000000000000000aa",' +
      '"value":"0","call_data":"0x"}],"deadline":4102444800,"nonce":1}',
  );
}

export function solver_quote(len: u32): i32 {
  return call("quote", len, '{"estimated_output":"1"}');
}

export function solver_on_benchmark_end(len: u32): i32 {
  return call("on_benchmark_end", len, "");
}

export function solver_serialize_state(len: u32): i32 {
  return call("serialize_state", len, "");
}
