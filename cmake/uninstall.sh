#!/bin/sh
# Removes what the last `make install` of a build directory installed, by its manifest:  uninstall.sh BUILD_DIR [DESTDIR]
#
# Files that are not in the manifest stay, and so do folders that are not empty afterwards.
set -eu

manifest=$1/installed.txt destination=${2:-}
if [ ! -f "$manifest" ]; then
    echo "uninstall: $manifest is not there: nothing was installed from this folder, or it was cleaned since" >&2
    exit 1
fi
removed=0 gone=0
while IFS= read -r file || [ -n "$file" ]; do
    path=$destination$file
    if [ -e "$path" ] || [ -L "$path" ]; then
        rm -f "$path"
        removed=$((removed + 1))
    else
        gone=$((gone + 1))
    fi
    # folders of brio's own, from the inside out; what Python has compiled goes with what it was compiled from
    folder=$(dirname "$path")
    case "$path" in */brio/__init__.py) rm -rf "$folder/__pycache__" ;; esac
    while case "$folder" in */brio | */brio/* | */share/doc/brio*) true ;; *) false ;; esac; do
        rmdir "$folder" 2>/dev/null || break
        folder=$(dirname "$folder")
    done
done <"$manifest"
echo "uninstall: $removed files removed$([ $gone = 0 ] || echo ", $gone were not there any more")"
rm "$manifest"
