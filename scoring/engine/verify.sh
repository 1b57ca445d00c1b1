#!/bin/sh
# Checks the committed engine: its hash always, and, where the compiler that made
# it is installed, that a build from source gives the same bytes.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
clang=${CLANG:-clang-14}
wanted='clang version 14.0.6'

(cd "$here" && sha256sum --check --quiet quickjs.wasm.sha256)

found=$("$clang" --version 2>/dev/null | head -n 1) || found=
case $found in
*"$wanted"*) ;;
*)
	echo "engine: hash checked; not rebuilt: ${found:-$clang absent}, want $wanted"
	exit 0
	;;
esac

built=$(mktemp)
trap 'rm -f "$built"' EXIT
if ! "$here/build.sh" "$built"; then
	echo "engine: the rebuild failed" >&2
	exit 1
fi
if ! cmp "$built" "$here/quickjs.wasm"; then
	echo "engine: the rebuild differs from quickjs.wasm" >&2
	exit 1
fi
echo "engine: hash checked and rebuilt, byte for byte"
