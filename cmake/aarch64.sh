#!/bin/sh
# brio for 64-bit Arm: cross-compiled, then tested under qemu:  aarch64.sh BUILD_DIR [ctest options]
#
# BUILD_DIR/sysroot gets the arm64 packages that brio is linked and tested with (1 GB). Tests start programs
# that start programs, so the kernel itself must know qemu as the interpreter of Arm programs (binfmt_misc).
# Where it does not, the script tells it so inside a namespace of its own; the machine stays as it is.
set -eu

build=$1
shift
sysroot=$(pwd)/$build/sysroot
packages="libc6-dev libstdc++-12-dev libfyaml-dev libsuitesparse-dev libopenblas-pthread-dev zlib1g-dev"
packages="$packages libcmocka-dev libsundials-dev python3-numpy"
binfmt=/proc/sys/fs/binfmt_misc

if [ ! -e "$sysroot/complete" ]; then
    rm -rf "$sysroot"
    mkdir -p "$sysroot"
    echo "aarch64: fetching the arm64 packages"
    mmdebstrap --quiet --variant=extract --architectures=arm64 --include="$(echo $packages | tr ' ' ',')" \
        --format=tar bookworm - | tar -x -C "$sysroot" --no-same-owner --exclude=./dev --exclude='./usr/share/doc' \
        --exclude=./tmp --exclude=./var # qemu would look there first, and some calls of a program elsewhere
    # Nothing was configured, so links are as the packages have them: those from the root become relative to it...
    find "$sysroot" -type l -lname '/*' | while read -r link; do
        ln -sfn "$(realpath -m -s --relative-to="$(dirname "$link")" "$sysroot$(readlink "$link")")" "$link"
    done
    # ...and the BLAS, which Debian's update-alternatives would choose, is OpenBLAS.
    for library in libblas.so.3 liblapack.so.3 libopenblas.so.0; do
        ln -sf openblas-pthread/$library "$sysroot/usr/lib/aarch64-linux-gnu/$library"
    done
    : >"$sysroot/complete"
fi

if ! grep -qs '^enabled' $binfmt/qemu-aarch64; then
    if [ -n "${BRIO_NAMESPACE:-}" ]; then
        mount -t binfmt_misc binfmt_misc $binfmt && cat /usr/lib/binfmt.d/qemu-aarch64.conf >$binfmt/register || {
            echo "aarch64: Linux does not know qemu as the interpreter of Arm programs. Please run, as root:" >&2
            echo "    systemctl restart systemd-binfmt" >&2
            exit 1
        }
    else
        exec env BRIO_NAMESPACE=yes unshare --user --map-root-user --mount sh "$0" "$build" "$@"
    fi
fi

export QEMU_LD_PREFIX="$sysroot"
cmake --preset aarch64 >/dev/null
cmake --build "$build"

# A browser waits for the frames of `brio live` in real time. The others read sources: they are the same on any machine.
out="live_page|layers|touches|named|words|format|docs"

# The whole set takes hours: it goes on where it was interrupted. What has passed since the last build is left out.
passed=$build/passed
logs=$build/Testing/Temporary
newest=$(ls -t "$build/brio" "$build"/*.so "$build"/tests/test_* | head -1)
[ "$passed" -nt "$newest" ] || rm -f "$passed"
for log in "$logs/LastTest.log" "$logs/LastTest.log.tmp"; do
    [ "$log" -nt "$newest" ] || continue
    awk '/^[0-9]+\/[0-9]+ Testing: / { name = $3 } /^Test Passed\./ { print name }' "$log" >>"$passed"
done
if [ $# = 0 ] && [ -s "$passed" ]; then
    sort -u -o "$passed" "$passed"
    echo "aarch64: $(wc -l <"$passed") tests have passed since the last build; without $passed all are run again"
    out="$out|$(paste -sd '|' "$passed")"
    left=$(ctest --test-dir "$build" -N -LE long -E "^($out)\$" | sed -n 's/^Total Tests: //p')
    [ "$left" != 0 ] || exit 0
fi
sh cmake/test.sh "$build" -LE long -E "^($out)\$" "$@"
