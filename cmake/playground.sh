#!/bin/sh
# Builds the playground, one page that opens without a server:  playground.sh BUILD_DIR
# Needs emscripten, Node.js 18 and npm (cmake/setup.sh playground); npm brings three, uplot and esbuild as web/playground/package-lock.json pins them.
set -eu

build=$1
for program in emcc node npm; do
    if ! command -v $program >/dev/null 2>&1; then
        echo "playground: there is no $program; on Debian: apt-get install emscripten nodejs npm" >&2
        exit 1
    fi
done
NODE_PATH=/usr/share/nodejs
export NODE_PATH
cmake --preset wasm >/dev/null
cmake --build build/wasm
if [ ! -e web/playground/node_modules/.package-lock.json ] || [ web/playground/package-lock.json -nt web/playground/node_modules/.package-lock.json ]; then
    (cd web/playground && npm ci --no-audit --no-fund --loglevel=error)
fi
node web/playground/build.mjs "$build"
