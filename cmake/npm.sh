#!/bin/sh
# Makes the package brio-engine, the engine for JavaScript:  npm.sh BUILD_DIR [pack]
# BUILD_DIR/npm/package, and with `pack` BUILD_DIR/npm/brio-engine-VERSION.tgz. Needs emscripten, Node.js 18 and npm
# (cmake/setup.sh playground).
set -eu

build=$1
for program in emcc node npm; do
    if ! command -v $program >/dev/null 2>&1; then
        echo "npm: there is no $program; on Debian: apt-get install emscripten nodejs npm" >&2
        exit 1
    fi
done
NODE_PATH=/usr/share/nodejs
export NODE_PATH
cmake --preset wasm >/dev/null
cmake --build build/wasm
node integrations/npm/build.mjs "$build" ${2:-}
