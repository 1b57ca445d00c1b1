// Bytes that grow, slices of them, and the little text that scripts need.

// A Slice is a part of memory that something else keeps alive.
export class Slice {
  constructor(public ptr: usize, public len: i32) {}

  find(what: Slice): i32 {
    const last = this.len - what.len;
    for (let i = 0; i <= last; i++) {
      if (load<u8>(this.ptr + i) == load<u8>(what.ptr) && memory.compare(this.ptr + i, what.ptr, what.len) == 0) return i;
    }
    return -1;
  }

  index(c: u8): i32 {
    for (let i = 0; i < this.len; i++) if (load<u8>(this.ptr + i) == c) return i;
    return -1;
  }

  from(start: i32): Slice {
    return new Slice(this.ptr + start, this.len - start);
  }

  // before and after split at the first c; without one, after is empty.
  before(c: u8): Slice {
    const i = this.index(c);
    return i < 0 ? this : new Slice(this.ptr, i);
  }

  after(c: u8): Slice {
    const i = this.index(c);
    return i < 0 ? this.from(this.len) : this.from(i + 1);
  }

  number(): u64 {
    let n: u64 = 0;
    for (let i = 0; i < this.len; i++) n = n * 10 + (load<u8>(this.ptr + i) - 0x30);
    return n;
  }

  bits(): u64 {
    let n: u64 = 0;
    for (let i = 0; i < this.len; i++) n = (n << 4) | digit(load<u8>(this.ptr + i));
    return n;
  }

  text(): string {
    return String.UTF8.decodeUnsafe(this.ptr, this.len);
  }
}

function digit(c: u8): u64 {
  return c <= 0x39 ? c - 0x30 : c - 0x61 + 10;
}

export class Bytes {
  data: StaticArray<u8> = new StaticArray<u8>(0);
  len: i32 = 0;

  get ptr(): usize {
    return changetype<usize>(this.data);
  }

  get slice(): Slice {
    return new Slice(this.ptr, this.len);
  }

  // room makes space for n more bytes and returns where they go.
  room(n: i32): usize {
    if (this.data.length - this.len < n) {
      const grown = new StaticArray<u8>(max(this.data.length * 2, this.len + n));
      memory.copy(changetype<usize>(grown), this.ptr, this.len);
      this.data = grown;
    }
    return this.ptr + this.len;
  }

  put(s: Slice): void {
    memory.copy(this.room(s.len), s.ptr, s.len);
    this.len += s.len;
  }

  byte(c: u8): void {
    store<u8>(this.room(1), c);
    this.len++;
  }

  say(text: string): void {
    const encoded = String.UTF8.encode(text);
    this.put(new Slice(changetype<usize>(encoded), encoded.byteLength));
  }

  hex(bits: u64, digits: i32): void {
    while (digits--) {
      const d = <u8>((bits >> (digits * 4)) & 15);
      this.byte(d < 10 ? 0x30 + d : 0x61 + d - 10);
    }
  }

  // quotes appends s with every ' made a ".
  quotes(s: Slice): void {
    for (let i = 0; i < s.len; i++) {
      const c = load<u8>(s.ptr + i);
      this.byte(c == 0x27 ? 0x22 : c);
    }
  }
}

export function literal(text: string): Bytes {
  const b = new Bytes();
  b.say(text);
  return b;
}
