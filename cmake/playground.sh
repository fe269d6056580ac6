#!/bin/sh
# Builds the playground, one page that opens without a server, of the package brio-engine:  playground.sh BUILD_DIR
# Needs emscripten, Node.js 18 and npm (cmake/setup.sh playground); npm brings what web/playground/package-lock.json pins.
set -eu

build=$1
sh cmake/npm.sh "$build" pack
for folder in web/playground integrations/npm; do
    installed=$folder/node_modules/.package-lock.json
    if [ ! -e $installed ] || [ $folder/package-lock.json -nt $installed ]; then
        (cd $folder && npm ci --no-audit --no-fund --loglevel=error)
    fi
done
node web/playground/build.mjs "$build"
