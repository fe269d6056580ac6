#!/bin/sh
# Bundles web/report next to the build:  report.sh SOURCE OUT NPM NODE build|test
# The packages of package-lock.json go to the build folder, those of the tests with `test`. Whatever fails leaves an empty
# file and a sentence: the program is built all the same.
set -u

source=$1 out=$2 npm=$3 node=$4
folder=$(dirname "$out")
mkdir -p "$folder"
omit=--omit=dev
[ "$5" = test ] && omit=
cp "$source"/package.json "$source"/package-lock.json "$source"/*.mjs "$source"/*.js "$source"/*.css "$folder" || exit 1
cd "$folder" || exit 1

if cmp -s package-lock.json node_modules/.installed-$5 ||
    { "$npm" ci $omit --no-audit --no-fund --no-progress --loglevel=error >npm.log 2>&1 && cp package-lock.json node_modules/.installed-$5; }; then
    "$node" build.mjs "$out" >build.log 2>&1 && exit 0
    echo "report: the script of report.html could not be bundled (see $folder/build.log);" >&2
else
    echo "report: npm could not fetch three.js, uPlot and esbuild (see $folder/npm.log; the network is the usual reason);" >&2
fi
echo "report: brio is built without it, and reports show pictures instead of the moving scene." >&2
: >"$out"
