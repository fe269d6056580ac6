#!/bin/sh
# Builds the playground, one page that opens without a server, of the package brio-engine:  playground.sh BUILD_DIR
# Needs emscripten, Node.js 18 and npm (cmake/setup.sh playground); npm brings what web/playground/package-lock.json pins,
# and what the tests of the package need (integrations/npm/package-lock.json).
set -eu

build=$1
install() {
    if [ ! -e "$1/node_modules/.package-lock.json" ] || [ "$1/package-lock.json" -nt "$1/node_modules/.package-lock.json" ]; then
        (cd "$1" && npm ci --no-audit --no-fund --loglevel=error)
    fi
}
sh cmake/npm.sh "$build" pack
install web/playground
node web/playground/build.mjs "$build"
install integrations/npm || echo "playground: npm cannot bring what the tests of brio-engine need; they will be skipped" >&2
