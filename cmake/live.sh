#!/bin/sh
# Bundles the page of `brio live` with the packages of the reports' script:  live.sh SOURCE OUT NODE REPORT
# Without them the page is empty, and `brio live` says so.
set -u

source=$1 out=$2 node=$3 report=$4
mkdir -p "$(dirname "$out")"
if [ -s "$report" ]; then
    "$node" "$source/build.mjs" "$out" "$(dirname "$report")/node_modules" >"$out.log" 2>&1 && exit 0
    echo "live: the page of brio live could not be bundled (see $out.log); brio is built without it." >&2
fi
: >"$out"
