#!/bin/sh
# Builds the conformance guests: build.sh FOLDER. A guest whose toolchain is
# missing is named and left out; with CI=true or ASSAY_ALL=1 that is a failure.
# The same versions of the toolchains give the same bytes from any directory.
#
# CLANG and RUSTC name compilers other than Debian's.
set -u
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1" && out=$(cd "$1" && pwd) || exit 1
clang=${CLANG:-clang-14}
rustc=${RUSTC:-/usr/bin/rustc}
status=0

# guest NAME NEEDS BUILD...: builds one guest, or says what it needs.
guest() {
	name=$1 needs=$2 result=$out/conformance-$1.wasm
	shift 2
	rm -f "$result"
	if ! eval "has_$name" >/dev/null 2>&1; then
		echo "conformance: $name: not built, it needs $needs" >&2
		[ "${CI:-}" = true ] || [ "${ASSAY_ALL:-}" = 1 ] && status=1
	elif ! "$@" "$result"; then
		echo "conformance: $name: the build failed" >&2
		status=1
	fi
}

has_go() { command -v go; }
build_go() {
	(cd "$here" && GOOS=wasip1 GOARCH=wasm CGO_ENABLED=0 GOFLAGS= \
		go build -trimpath -buildvcs=false -ldflags='-s -w' -buildmode=c-shared -o "$1" ./go)
}

# The stack goes first: one that overflows then ends in a trap at address zero
# instead of running down through static data.
has_c() { command -v "$clang" && command -v wasm-ld-14 && test -e /usr/include/wasm32-wasi/stdio.h; }
build_c() {
	(cd "$here/c" && "$clang" --target=wasm32-wasi -O2 -Wall -Wextra -mexec-model=reactor \
		-Wl,--stack-first -Wl,-z,stack-size=1048576 -Wl,--strip-all -o "$1" guest.c)
}

has_rust() { command -v "$rustc" && command -v wasm-ld-14 && test -d "$("$rustc" --print sysroot)/lib/rustlib/wasm32-wasi/lib"; }
build_rust() {
	(cd "$here/rust" && "$rustc" --target wasm32-wasi --edition 2021 --crate-type cdylib --crate-name conformance \
		-O -C panic=abort -C codegen-units=1 -C strip=symbols -C linker=wasm-ld-14 \
		-C link-arg=--stack-first -C link-arg=-zstack-size=1048576 --remap-path-prefix="$here/rust=." -o "$1" guest.rs)
}

has_as() { command -v npm; }
build_as() {
	(cd "$here/as" && npm ci --silent --no-audit --no-fund >/dev/null && npm run --silent build -- -o "$1")
}

guest go "Go" build_go
guest c "apt-get install clang-14 lld-14 wasi-libc libclang-rt-14-dev-wasm32" build_c
guest rust "apt-get install rustc libstd-rust-dev-wasm32 lld-14" build_rust
guest as "npm" build_as
exit $status
