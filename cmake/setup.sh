#!/bin/sh
# Installs the Debian packages that a purpose needs:  setup.sh build|playground|test|browser|tsan|fuzz|coverage|format
#
# Quick when all are there. Otherwise installs as root, through sudo, or says what to type. Where there is
# no dpkg, or with BRIO_SETUP=no, it changes nothing and leaves the search to CMake.
set -eu

build="gcc libc6-dev make cmake ninja-build pkg-config libfyaml-dev libsuitesparse-dev libopenblas0-pthread"
test="$build libcmocka-dev calculix-ccx libsundials-dev locales"
# Node.js and npm may be there by other means than Debian's packages.
web="emscripten"
command -v node >/dev/null 2>&1 || web="$web nodejs"
command -v npm >/dev/null 2>&1 || web="$web npm"
case "${1:-build}" in
    build) packages=$build ;;
    playground) packages="$build $web" ;;
    browser) packages="$web chromium" ;;
    test) packages=$test ;;
    tsan) packages="$test clang libclang-rt-dev libomp-dev llvm" ;;
    fuzz) packages="$build clang libclang-rt-dev libomp-dev llvm" ;;
    coverage) packages="$test gcovr" ;;
    format) packages="clang-format" ;;
    *)
        echo "setup: no purpose \"$1\"; there are build, playground, test, browser, tsan, fuzz, coverage, format" >&2
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
[ -z "$missing" ] && exit 0

if [ "$(id -u)" = 0 ]; then
    as_root="env"
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root="sudo -n"
elif command -v sudo >/dev/null 2>&1 && [ -t 0 ] && [ -t 2 ]; then
    echo "setup: sudo will ask for your password, to install:$missing" >&2
    as_root="sudo"
else
    echo "setup: these packages are missing, and installing them needs root. Please run, as root:" >&2
    echo "    apt-get update && apt-get install --no-install-recommends$missing" >&2
    echo "setup: and then the same make command again. (If they are there by other means: BRIO_SETUP=no make ...)" >&2
    exit 1
fi

echo "setup: installing$missing"
# The lists may be good enough if the update fails: the installation decides.
$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q update ||
    echo "setup: apt-get update failed; trying with the package lists as they are" >&2
if ! $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \
    install --no-install-recommends $missing </dev/null; then
    echo "setup: apt-get could not install:$missing" >&2
    echo "setup: see its message above; the network and the package sources are the usual reasons" >&2
    exit 1
fi
