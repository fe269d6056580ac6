#!/bin/sh
# Builds the last commit in two clones in different folders, without a cache of compiled files, and compares what
# they made:  same_bytes.sh [FOLDER]  (from the source directory; FOLDER is for the clones, build/same_bytes by default)
#
# Exit code 0: the program and the libraries have the same bytes. The clones are left, to look at what differs.
set -eu

root=${1:-build/same_bytes}
rm -rf "$root"
mkdir -p "$root"
root=$(cd "$root" && pwd)
export CCACHE_DISABLE=1
for clone in one a/folder/with-a-longer-name; do
    echo "same_bytes: building in $root/$clone"
    git clone -q --shared . "$root/$clone"
    (
        cd "$root/$clone"
        cmake --preset release >/dev/null
        cmake --build build --target brio_cli brio_shared brio_static >build.log || {
            tail -20 build.log
            exit 1
        }
    )
done
result=0
for file in brio libbrio.so libbrio.a brio.1; do
    one=$root/one/build/$file
    other=$root/a/folder/with-a-longer-name/build/$file
    if cmp "$one" "$other"; then
        echo "same_bytes: $file $(sha256sum <"$one" | cut -c1-16) $(wc -c <"$one") bytes"
    else
        result=1
    fi
done
exit $result
