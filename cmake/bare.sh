#!/bin/sh
# The Python package in a bare Debian, without and with a compiler:  bare.sh BUILD_DIR   (`make test-bare`; as root)
#
# BUILD_DIR/bare/root is a minimal Debian with Python, its numpy and Jupyter (nothing comes from PyPI). The wheel of
# BUILD_DIR/dist goes into a fresh venv there; the first notebook runs to its end; the program and Python give the
# same energy.csv as BUILD_DIR/brio; 10,000 simulations leave no memory behind. Then, with a compiler,
# `pip install .` from the sources, and the same bytes again. BRIO_BARE="wheel" leaves out that second part.
set -eu

build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/.." && pwd)
work=$build/bare
root=$work/root
parts=${BRIO_BARE:-wheel source}
python="python3,python3-venv,python3-pip,python3-numpy,python3-nbconvert,python3-ipykernel"
compiler="gcc libc6-dev cmake ninja-build pkg-config libfyaml-dev libsuitesparse-dev zlib1g-dev"
scene="cloth --quiet --force --set time.end=0.1 --set output.frames=[]"

if [ "$(id -u)" != 0 ]; then
    echo "bare: needs root, for mmdebstrap and chroot" >&2
    exit 1
fi
# What is mounted below is seen by this script only, and goes with it.
[ -n "${BRIO_NAMESPACE:-}" ] || exec env BRIO_NAMESPACE=yes unshare --mount sh "$0" "$@"

inside() { # COMMAND, by the shell of the bare system, as in a fresh login
    chroot "$root" env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LC_ALL=C.UTF-8 sh -eu -c "$1"
}

seconds() { # SINCE
    echo $(($(date +%s) - $1)) s
}

# A venv with the package, from what pip is told; nothing is fetched, and numpy is Debian's.
venv() { # NAME PACKAGE
    inside "rm -rf /$1; python3 -m venv --system-site-packages /$1
        cd /; /$1/bin/pip install --quiet --no-index --no-build-isolation --disable-pip-version-check $2
        /$1/bin/python -m ipykernel install --sys-prefix >/dev/null 2>&1"
}

same_bytes() { # VENV
    inside "cd /tmp; /$1/bin/brio run -o program $scene
        /$1/bin/python -c \"import brio; brio.run('cloth', 'python', force=True, set=['time.end=0.1', 'output.frames=[]'])\"" >/dev/null
    for who in program python; do
        cmp "$work/ours/energy.csv" "$root/tmp/$who/energy.csv"
    done
    echo "bare: $1: $(wc -c <"$work/ours/energy.csv") bytes of energy.csv, from the program and from Python, are those of $(basename "$build")/brio"
}

notebook() { # VENV
    since=$(date +%s)
    inside "cd /tmp; /$1/bin/python -m nbconvert --to html --execute --output-dir /tmp /first_soft_body.ipynb 2>/tmp/log ||
        { cat /tmp/log; exit 1; }"
    grep -q "The end" "$root/tmp/first_soft_body.html"
    echo "bare: $1: the first notebook runs to its end, $(seconds "$since")"
}

rm -rf "$work/ours"
mkdir -p "$work"
since=$(date +%s)
if [ ! -e "$work/complete" ]; then
    rm -rf "$root"
    mmdebstrap --quiet --variant=minbase --aptopt='APT::Install-Recommends "false"' --include="$python" bookworm "$root"
    : >"$work/complete"
fi
mkdir -p "$root/dev" "$root/proc"
[ -c "$root/dev/null" ] || mknod -m 666 "$root/dev/null" c 1 3
[ -c "$root/dev/urandom" ] || mknod -m 666 "$root/dev/urandom" c 1 9
echo "bare: Debian in $(du -sh "$root" | cut -f1), $(seconds "$since")"
mount -t proc proc "$root/proc"

"$build/brio" run -o "$work/ours" $scene
cp "$source/python/notebooks/first_soft_body.ipynb" "$source/tests/python/test_cost.py" "$root/"
for part in $parts; do
    case $part in
        wheel)
            if inside "command -v cc || command -v gcc || command -v clang || command -v c99" >/dev/null; then
                echo "bare: there is a compiler: remove $work and start again" >&2
                exit 1
            fi
            rm -f "$root"/brio-*.whl
            cp "$build"/dist/brio-*.whl "$root/"
            since=$(date +%s)
            venv wheel "/brio-*.whl"
            echo "bare: $(basename "$root"/brio-*.whl), $(wc -c <"$(ls "$root"/brio-*.whl)") bytes, installed without a compiler, $(seconds "$since")"
            notebook wheel
            same_bytes wheel
            inside "cd /; /wheel/bin/python -B -m unittest test_cost.Cost.test_memory test_cost.Cost.test_overhead_of_a_call" \
                >"$work/cost.log" 2>&1 || { cat "$work/cost.log"; exit 1; }
            sed -n 's/^\.*\([0-9].* kB resident\|[0-9].* us for a step\)/bare: \1/p' "$work/cost.log"
            ;;
        source)
            since=$(date +%s)
            cp /etc/resolv.conf "$root/etc/resolv.conf"
            inside "export DEBIAN_FRONTEND=noninteractive; apt-get -q update && apt-get -q -y install --no-install-recommends $compiler" \
                >"$work/apt.log" 2>&1 </dev/null || { tail "$work/apt.log"; exit 1; }
            echo "bare: compiler and libraries installed, $(seconds "$since")"
            rm -rf "$root/brio"
            mkdir "$root/brio"
            git -C "$source" ls-files -z | (cd "$source" && xargs -0 tar -cf - --) | tar -xf - -C "$root/brio"
            since=$(date +%s)
            venv source /brio
            echo "bare: pip install . from the sources, $(seconds "$since")"
            notebook source
            same_bytes source
            ;;
        *)
            echo "bare: no part \"$part\"; there are wheel and source" >&2
            exit 2
            ;;
    esac
done
echo "bare: all passed"
