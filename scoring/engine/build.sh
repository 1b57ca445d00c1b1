#!/bin/sh
# Builds the engine: build.sh [OUTPUT], by default quickjs.wasm beside this
# script. The same compiler gives the same bytes from any directory. CLANG names
# the compiler, clang-14 if absent.
set -eu
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
output=${1:-$here/quickjs.wasm}
clang=${CLANG:-clang-14}
archive=quickjs_2025.04.26.orig.tar.xz
sum=ec81da5b3249ed648dbc7df4a1654988910e66a118d9b71cb63534216efcfbbe

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

(cd "$here" && echo "$sum  $archive" | sha256sum --check --quiet)
mkdir "$work/q"
tar --extract --xz --file "$here/$archive" --directory "$work/q" --strip-components=1
cp -R "$here/include" "$here/shim.c" "$work/"
(cd "$work/q" && patch --quiet -p1 <"$here/quickjs.patch")

# The prelude as the elements of a C array, ended by a zero.
{
	od -An -v -tu1 "$here/prelude.js" | sed 's/  */,/g; s/^,//; s/$/,/'
	echo 0
} >"$work/prelude.inc"

# Relative paths only, so that no directory gets into the result. The linker is
# told to put the stack first: it then ends in a trap at address zero instead of
# running down through static data.
cd "$work"
"$clang" --target=wasm32-wasi -Os -mexec-model=reactor -w \
	-DNDEBUG -D_GNU_SOURCE -D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_PROCESS_CLOCKS \
	-DCONFIG_VERSION='"2025-04-26"' -DFE_DOWNWARD=0 -DFE_UPWARD=0 \
	-fvisibility=hidden -Iinclude -Iq -I. \
	-Wl,--stack-first -Wl,-z,stack-size=1048576 -Wl,--strip-all \
	-o engine.wasm \
	shim.c q/quickjs.c q/cutils.c q/dtoa.c q/libregexp.c q/libunicode.c -lm
cp engine.wasm "$output"
