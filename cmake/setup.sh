#!/bin/sh
# Installs the Debian packages that a purpose needs:  setup.sh build|demo|docs|playground|test|mpi|clients|tsan|fuzz|coverage|aarch64|package|python|bare|format
#
# Quick when all are there. Otherwise installs as root, through sudo, or says what to type. Where there is
# no dpkg, or with BRIO_SETUP=no, it changes nothing and leaves the search to CMake.
set -eu

build="gcc libc6-dev make cmake ninja-build pkg-config libfyaml-dev libsuitesparse-dev libopenblas0-pthread zlib1g-dev"
test="$build libcmocka-dev calculix-ccx libsundials-dev locales python3-numpy python3-venv mypy g++ clang-format"
# What brio can do without, as program:package. A machine may have them from elsewhere, and where they cannot be had the rest goes on.
wanted="node:nodejs npm:npm"
case "${1:-build}" in
    build) packages=$build ;;
    demo) packages=$build wanted="$wanted ffmpeg:ffmpeg tetgen:tetgen" ;;
    docs) packages="mkdocs" wanted="$wanted chromium:chromium" ;;
    playground) packages=$build wanted="$wanted emcc:emscripten" ;;
    test) packages=$test wanted="$wanted ffmpeg:ffmpeg chromium:chromium emcc:emscripten tetgen:tetgen strace:strace mkdocs:mkdocs" ;;
    mpi) packages="$test petsc-dev libhypre-dev libopenmpi-dev openmpi-bin" ;;
    clients) packages="$build blender xvfb xauth libgl1-mesa-dri python3-vtk9 python3-numpy python3-nbconvert python3-ipykernel" ;;
    tsan) packages="$test clang libclang-rt-dev llvm" ;;
    fuzz) packages="$build clang libclang-rt-dev llvm" ;;
    coverage) packages="$test gcovr" ;;
    aarch64) packages="$test gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user-static mmdebstrap" wanted="$wanted ffmpeg:ffmpeg tetgen:tetgen" ;;
    package) packages="$build dpkg-dev file" ;;
    python) packages="$build python3" ;;
    bare) packages="$build python3 mmdebstrap" wanted="" ;;
    format) packages="clang-format" wanted="" ;;
    *)
        echo "setup: no purpose \"$1\"; there are build, demo, docs, playground, test, mpi, clients, tsan, fuzz, coverage, aarch64, package, python, bare, format" >&2
        exit 2
        ;;
esac

[ "${BRIO_SETUP:-yes}" = no ] && exit 0

if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
    lacking=""
    for program in cc cmake ninja; do
        command -v $program >/dev/null 2>&1 || lacking="$lacking $program"
    done
    [ -z "$lacking" ] && exit 0 # CMake names the libraries that it does not find
    echo "setup: this is not a Debian system and there is no$lacking. Please install a C compiler (gcc 12 or clang 14," >&2
    echo "setup: or newer), CMake 3.25, Ninja, pkg-config, libfyaml, SuiteSparse with CHOLMOD, a BLAS, and cmocka for the" >&2
    echo "setup: tests. In Debian their packages are: $packages" >&2
    exit 1
fi

installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' $packages 2>/dev/null || true)
missing=""
for package in $packages; do
    echo "$installed" | grep -qx "installed $package" || missing="$missing $package"
done
extra=""
for pair in $wanted; do
    command -v "${pair%%:*}" >/dev/null 2>&1 || extra="$extra ${pair#*:}"
done
[ -z "$missing$extra" ] && exit 0

if [ "$(id -u)" = 0 ]; then
    as_root="env"
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root="sudo -n"
elif command -v sudo >/dev/null 2>&1 && [ -n "$missing" ] && [ -t 0 ] && [ -t 2 ]; then
    echo "setup: sudo will ask for your password, to install:$missing$extra" >&2
    as_root="sudo"
elif [ -z "$missing" ]; then
    echo "setup: going on without$extra, which installing needs root for (docs/dependencies.md says what they are for)" >&2
    exit 0
else
    echo "setup: these packages are missing, and installing them needs root. Please run, as root:" >&2
    echo "    apt-get update && apt-get install --no-install-recommends$missing" >&2
    echo "setup: and then the same make command again. (If they are there by other means: BRIO_SETUP=no make ...)" >&2
    exit 1
fi

echo "setup: installing$missing$extra"
# The lists may be good enough if the update fails: the installation decides.
$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q update ||
    echo "setup: apt-get update failed; trying with the package lists as they are" >&2
install() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \
        install --no-install-recommends "$@" </dev/null
}
if [ -n "$extra" ] && ! install $extra; then
    echo "setup: going on without$extra, which apt-get could not install (docs/dependencies.md says what they are for)" >&2
fi
[ -z "$missing" ] && exit 0
if ! install $missing; then
    echo "setup: apt-get could not install:$missing" >&2
    echo "setup: see its message above; the network and the package sources are the usual reasons" >&2
    exit 1
fi
