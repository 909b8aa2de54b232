#!/usr/bin/env bash
# What to run first on a machine with a GPU: `cuda/first_hour.sh [path of mlsearch]`. It needs no network and a few minutes, and leaves its results
# in a folder gpu-first-hour: checks of memory and barriers where compute-sanitizer is installed, the self-test, and where ncu is, a profile.
set -uo pipefail
mlsearch=$(realpath "${1:-target/release/mlsearch}")
mkdir -p gpu-first-hour && cd gpu-first-hour || exit 1

step() {
    printf '\n== %s\n' "$*"
    timeout 300 "$@"
}

step nvidia-smi --query-gpu=name,driver_version,memory.total,compute_cap --format=csv
if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck synccheck; do
        step compute-sanitizer --tool "$tool" "$mlsearch" gpu-selftest --quick --redo -n "$tool" | tail -n 3
    done
fi
step "$mlsearch" gpu-selftest --redo -n selftest
if command -v ncu >/dev/null; then
    step ncu --clock-control none -k 'regex:sweep|partials|likelihood' -s 300 -c 6 --section SpeedOfLight --section WarpStateStats \
        --section LaunchStats "$mlsearch" gpu-selftest --quick --redo -n profile >profile.txt
    printf 'profile: gpu-first-hour/profile.txt\n'
fi
