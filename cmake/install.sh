#!/bin/sh
# Installs a build, keeps the list of files for uninstall.sh and says what is where now:  install.sh BUILD_DIR PREFIX [DESTDIR]
set -eu

build=$1 prefix=$2 destination=${3:-}
log=$build/install.log
if ! DESTDIR=$destination cmake --install "$build" >"$log" 2>&1; then
    grep -v '^-- ' "$log" >&2
    if [ "$(id -u)" != 0 ] && grep -q 'Permission denied\|cannot create\|cannot copy' "$log"; then
        echo "install: you may not write to $destination$prefix: sudo make install, or make install PREFIX=\$HOME/.local" >&2
    fi
    exit 1
fi
mv "$build/install_manifest.txt" "$build/installed.txt"
echo "install: $(grep -c . "$build/installed.txt") files under $destination$prefix (the list: $build/installed.txt; make uninstall removes them)"
[ -z "$destination" ] || exit 0

# So that programs of yours find libbrio.so at once.
if [ "$(id -u)" = 0 ] && command -v ldconfig >/dev/null 2>&1; then ldconfig; fi
if [ "$(command -v brio)" != "$prefix/bin/brio" ]; then
    echo "install: \`brio\` is not found as a command, or another one is: put $prefix/bin to the front of your PATH"
fi
