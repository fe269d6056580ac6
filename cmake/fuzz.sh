#!/bin/sh
# Runs every fuzzer of a build for some seconds each:  fuzz.sh BUILD_DIR SECONDS
# What it finds stays in BUILD_DIR/fuzz/corpus; seeds are taken from tests/corpus/NAME.
set -eu

build=$1
seconds=$2
found=0
for fuzzer in "$build"/fuzz/fuzz_*; do
    [ -x "$fuzzer" ] && [ -f "$fuzzer" ] || continue
    found=1
    name=${fuzzer##*/fuzz_}
    corpus=$build/fuzz/corpus/$name
    mkdir -p "$corpus"
    seeds=tests/corpus/$name
    [ -d "$seeds" ] || seeds=
    echo "fuzz: $name for $seconds s"
    "$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 \
        -artifact_prefix="$build/fuzz/$name-" "$corpus" $seeds
done
if [ $found = 0 ]; then
    echo "fuzz: there is no tests/fuzz_*.c" >&2
    exit 1
fi
