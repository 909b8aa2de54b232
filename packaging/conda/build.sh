#!/bin/sh
# What conda-build runs in the folder of the source; PREFIX is where the package goes, CARGO what builds it.
set -eu
cargo="${CARGO:-cargo}"
if "$cargo" bundle-licenses --version > /dev/null 2>&1; then
    "$cargo" bundle-licenses --format yaml --output THIRDPARTY.yml
fi
"$cargo" build --locked --profile dist
packaging/install "${CARGO_TARGET_DIR:-target}/${CARGO_BUILD_TARGET:+$CARGO_BUILD_TARGET/}dist/mlsearch" "$PREFIX"
