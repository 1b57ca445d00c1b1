//! The conformance guest in Rust: see ../README.md for what it has to do.

use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

mod host {
    #[link(wasm_import_module = "assay")]
    extern "C" {
        pub fn input(ptr: *mut u8, cap: u32) -> i32;
        pub fn output(ptr: *const u8, len: u32);
        pub fn rpc(chain: i64, ptr: *const u8, len: u32) -> i32;
        pub fn rpc_read(ptr: *mut u8, cap: u32) -> i32;
        pub fn log(level: i32, ptr: *const u8, len: u32);
    }
    // The standard library has no random bytes to give.
    #[link(wasm_import_module = "wasi_snapshot_preview1")]
    extern "C" {
        pub fn random_get(ptr: *mut u8, len: u32) -> i32;
    }
}

const OK: i32 = 0;
const FAILED: i32 = 1;
const NOT_IMPLEMENTED: i32 = 2;

const METADATA: &str = r#"{"name":"conformance","version":"1.0.0","author":"assay"}"#;
const TRIGGER: &str = r#"{"trigger":true}"#;
const PLAN: &str = concat!(
    r#"{"intent_id":"conformance","interactions":[{"target":"0x00000000000000000000000000000000000000aa","#,
    r#""value":"0","call_data":"0x"}],"deadline":4102444800,"nonce":1}"#
);
const QUOTE: &str = r#"{"estimated_output":"1"}"#;

// ---- text ----

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(i) = text[from..].iter().position(|&c| c == what[0]) {
        if text[from + i..].starts_with(what) {
            return Some(from + i);
        }
        from += i + 1;
    }
    None
}

/// until splits at the first c, which belongs to neither part.
fn until(s: &[u8], c: u8) -> (&[u8], &[u8]) {
    match s.iter().position(|&b| b == c) {
        Some(i) => (&s[..i], &s[i + 1..]),
        None => (s, &[]),
    }
}

fn number(s: &[u8]) -> u64 {
    s.iter().fold(0, |n: u64, &c| n.wrapping_mul(10).wrapping_add(c.wrapping_sub(b'0') as u64))
}

fn digit(c: u8) -> u8 {
    if c <= b'9' { c.wrapping_sub(b'0') } else { c.wrapping_sub(b'a' - 10) }
}

fn bits(s: &[u8]) -> u64 {
    s.iter().fold(0, |n, &c| n << 4 | digit(c) as u64)
}

fn quotes(s: &[u8]) -> Vec<u8> {
    s.iter().map(|&c| if c == b'\'' { b'"' } else { c }).collect()
}

/// script finds the string that begins with a name in a JSON text.
fn script(text: &[u8], name: &str) -> Option<Vec<u8>> {
    let needle = format!("\"{} ", name);
    let at = find(text, needle.as_bytes())? + needle.len();
    Some(until(&text[at..], b'"').0.to_vec())
}

// ---- arithmetic ----

fn f64_bits(op: &[u8], a: f64, b: f64) -> String {
    let r = match op {
        b"demote" => return format!("{:08x}", (a as f32).to_bits()),
        b"add" => a + b,
        b"sub" => a - b,
        b"mul" => a * b,
        b"div" => a / b,
        _ => a.sqrt(),
    };
    format!("{:016x}", r.to_bits())
}

fn f32_bits(op: &[u8], a: f32, b: f32) -> String {
    let r = match op {
        b"promote" => return format!("{:016x}", (a as f64).to_bits()),
        b"add" => a + b,
        b"sub" => a - b,
        b"mul" => a * b,
        b"div" => a / b,
        _ => a.sqrt(),
    };
    format!("{:08x}", r.to_bits())
}

fn mix(rounds: u64) -> u64 {
    let (mut x, mut s) = (0u64, 0u64);
    for _ in 0..rounds {
        s = s.wrapping_add(0x9e3779b97f4a7c15);
        let mut z = s;
        z = (z ^ z >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d049bb133111eb);
        x = x.rotate_left(1) ^ z ^ z >> 31;
    }
    x
}

#[inline(never)]
fn recurse(n: u32) -> u32 {
    if n == 0 { 1 } else { recurse(n - 1).wrapping_mul(31) ^ n }
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}

// ---- the guest ----

struct Guest {
    init: Vec<u8>,
    state: Vec<u8>,
    input: Vec<u8>,
    input_len: u32,
    answer: Vec<u8>,
}

static GUEST: Mutex<Guest> = Mutex::new(Guest {
    init: Vec::new(),
    state: Vec::new(),
    input: Vec::new(),
    input_len: 0,
    answer: Vec::new(),
});

/// pull reads an import to its end, piece by piece.
fn pull(piece: usize, read: unsafe extern "C" fn(*mut u8, u32) -> i32) -> Vec<u8> {
    let mut all: Vec<u8> = Vec::new();
    loop {
        let len = all.len();
        all.reserve(piece);
        // What the import filled is what it says it filled.
        let n = unsafe { read(all.as_mut_ptr().add(len), piece as u32) };
        if n <= 0 {
            return all;
        }
        unsafe { all.set_len(len + n as usize) };
    }
}

/// ask sends a request; the error is the host's negative status.
fn ask(chain: u64, request: &[u8], piece: usize) -> Result<Vec<u8>, i32> {
    let len = unsafe { host::rpc(chain as i64, request.as_ptr(), request.len() as u32) };
    if len < 0 {
        return Err(len);
    }
    let reply = pull(piece, host::rpc_read);
    if reply.len() == len as usize { Ok(reply) } else { Err(-100) }
}

fn request(method: &[u8]) -> Vec<u8> {
    [br#"{"jsonrpc":"2.0","id":1,"method":""#, method, br#"","params":[]}"#].concat()
}

/// call_method says what became of one request, and whether it was answered.
fn call_method(chain: u64, method: &[u8]) -> (bool, Vec<u8>) {
    let reply = match ask(chain, &request(method), 1 << 16) {
        Ok(reply) => reply,
        Err(status) => return (false, status.to_string().into_bytes()),
    };
    let after = |text: &[u8], key: &[u8]| match find(text, key) {
        Some(at) => until(&text[at + key.len()..], b'"').0.to_vec(),
        None => Vec::new(),
    };
    match find(&reply, br#""error""#) {
        Some(at) => (false, [b"rpc error: ", &after(&reply[at..], br#""message":""#)[..]].concat()),
        None => (true, after(&reply, br#""result":""#)),
    }
}

impl Guest {
    fn say(&mut self, text: impl AsRef<[u8]>) {
        self.answer.extend_from_slice(text.as_ref());
    }

    fn flush(&mut self, piece: usize) {
        if self.answer.is_empty() {
            unsafe { host::output(self.answer.as_ptr(), 0) };
        }
        for part in self.answer.chunks(piece.max(1)) {
            unsafe { host::output(part.as_ptr(), part.len() as u32) };
        }
        self.answer.clear();
    }

    /// step does one operation and returns the status if it ends the script.
    fn step(&mut self, op: &[u8], args: &[u8]) -> Option<i32> {
        let (first, rest) = until(args, b' ');
        let (second, tail) = until(rest, b' ');
        let n = number(first);
        match op {
            b"say" => self.say(args),
            b"json" => self.say(quotes(args)),
            b"hex" => self.say(args.chunks_exact(2).map(|h| bits(h) as u8).collect::<Vec<u8>>()),
            b"repeat" => self.say(rest.repeat(n as usize)),
            b"fill" => self.answer.extend((0..n).map(|i| (i % 251) as u8)),
            b"echo" => self.answer.extend_from_slice(&self.input),
            b"length" => self.say(self.input_len.to_string()),
            b"more" => {
                let mut buf = [0; 16];
                self.say(unsafe { host::input(buf.as_mut_ptr(), 16) }.to_string());
            }
            b"keep" => self.state = std::mem::take(&mut self.answer),
            b"state" => self.answer.extend_from_slice(&self.state),
            b"flush" => self.flush(self.answer.len()),
            b"pieces" => self.flush(n as usize),
            b"fail" => return Some(FAILED),
            b"absent" => return Some(NOT_IMPLEMENTED),
            b"status" => return Some(n as i32),
            b"trap" => core::arch::wasm32::unreachable(),
            b"exit" => std::process::exit(n as i32),
            b"pointer" => unsafe {
                let (ptr, len) = (number(second) as u32 as usize, number(tail) as u32);
                match first {
                    b"input" => drop(host::input(ptr as *mut u8, len)),
                    b"output" => host::output(ptr as *const u8, len),
                    b"rpc" => drop(host::rpc(1, ptr as *const u8, len)),
                    b"rpc_read" => drop(host::rpc_read(ptr as *mut u8, len)),
                    _ => host::log(1, ptr as *const u8, len),
                }
            },
            b"log" => unsafe { host::log(n as i32, rest.as_ptr(), rest.len() as u32) },
            b"logfill" => {
                let line = vec![b'x'; n as usize];
                unsafe { host::log(1, line.as_ptr(), line.len() as u32) };
            }
            b"print" => println!("{}", std::str::from_utf8(args).unwrap()),
            b"read" => self.say(call_method(n, rest).1),
            b"reads" => {
                let (mut answered, mut last) = (0, Vec::new());
                for _ in 0..n {
                    let (ok, said) = call_method(number(second), tail);
                    answered += ok as u64;
                    last = said;
                }
                self.say(format!("{} ", answered));
                self.say(last);
            }
            b"big" => {
                let method = vec![b'm'; number(rest) as usize - request(b"").len()];
                let (ok, said) = call_method(n, &method);
                self.say(if ok { b"answered".to_vec() } else { said });
            }
            b"raw" => match ask(n, &quotes(tail), number(second) as usize) {
                Ok(reply) => {
                    self.say(format!("{} ", reply.len()));
                    self.say(reply);
                }
                Err(status) => self.say(format!("{} ", status)),
            },
            b"peek" => {
                let mut buf = [0; 16];
                self.say(unsafe { host::rpc_read(buf.as_mut_ptr(), 16) }.to_string());
            }
            b"clock" => self.say(now().as_secs().to_string()),
            b"ticks" => {
                let before = now();
                self.say(if now() > before { "later" } else { "same" });
            }
            b"sleep" => std::thread::sleep(Duration::from_millis(n)),
            b"random" => {
                let mut buf = vec![0; n as usize];
                assert_eq!(unsafe { host::random_get(buf.as_mut_ptr(), n as u32) }, 0);
                self.say(buf.iter().map(|c| format!("{:02x}", c)).collect::<String>());
            }
            b"f64" => self.say(f64_bits(first, f64::from_bits(bits(second)), f64::from_bits(bits(tail)))),
            b"f32" => self.say(f32_bits(first, f32::from_bits(bits(second) as u32), f32::from_bits(bits(tail) as u32))),
            b"mix" => self.say(format!("{:016x}", mix(n))),
            b"recurse" => self.say(recurse(n as u32).to_string()),
            b"spin" => loop {
                unsafe { std::ptr::read_volatile(&self.input_len) };
            },
            b"grow" => {
                let mut block: Vec<u8> = Vec::with_capacity((n as usize) << 20);
                let spare = block.spare_capacity_mut();
                for i in (0..(n as usize) << 20).step_by(1 << 16) {
                    unsafe { std::ptr::write_volatile(spare[i].as_mut_ptr(), 1) };
                }
                self.say(n.to_string());
            }
            _ => {
                self.say("unknown operation");
                return Some(FAILED);
            }
        }
        None
    }

    fn run(&mut self, script: &[u8]) -> i32 {
        for part in script.split(|&c| c == b';').filter(|part| !part.is_empty()) {
            let (op, args) = until(part, b' ');
            if let Some(status) = self.step(op, args) {
                return status;
            }
        }
        OK
    }

    fn call(&mut self, name: &str, len: u32, otherwise: &str) -> i32 {
        let piece = script(&self.init, "input").map_or(1 << 20, |size| number(&size) as usize);
        self.answer.clear();
        self.input_len = len;
        self.input = pull(piece, host::input);
        if name == "initialize" {
            self.init = self.input.clone();
        }
        let mut status = OK;
        match script(&self.input, name).or_else(|| script(&self.init, name)) {
            Some(found) => status = self.run(&found),
            None if name == "restore_state" => self.state = self.input.clone(),
            None if name == "serialize_state" => self.answer = self.state.clone(),
            None => self.say(otherwise),
        }
        if !self.answer.is_empty() {
            unsafe { host::output(self.answer.as_ptr(), self.answer.len() as u32) };
        }
        status
    }
}

fn call(name: &str, len: u32, otherwise: &str) -> i32 {
    GUEST.lock().unwrap().call(name, len, otherwise)
}

/// _initialize runs what the C library runs before main. A linker that finds no
/// caller of it wraps every export in constructors and destructors instead.
#[no_mangle]
pub extern "C" fn _initialize() {
    extern "C" {
        fn __wasm_call_ctors();
    }
    unsafe { __wasm_call_ctors() }
}

#[no_mangle]
pub extern "C" fn solver_abi() -> i32 {
    1
}

macro_rules! calls {
    ($($export:ident $name:literal $otherwise:expr;)*) => {$(
        #[no_mangle]
        pub extern "C" fn $export(len: u32) -> i32 {
            call($name, len, $otherwise)
        }
    )*};
}

calls! {
    solver_metadata "metadata" METADATA;
    solver_initialize "initialize" "";
    solver_restore_state "restore_state" "";
    solver_set_market "set_market" "";
    solver_on_benchmark_start "on_benchmark_start" "";
    solver_check_trigger "check_trigger" TRIGGER;
    solver_generate_plan "generate_plan" PLAN;
    solver_quote "quote" QUOTE;
    solver_on_benchmark_end "on_benchmark_end" "";
    solver_serialize_state "serialize_state" "";
}
