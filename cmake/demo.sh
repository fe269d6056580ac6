#!/bin/sh
# The demo:  demo.sh BRIO FOLDER
# One scene with two methods and the same step: a film of both side by side (if ffmpeg is installed)
# and a report of each.
#   demo.sh kernels BUILD
# prints the option for CMake that compiles the kernels of this machine's instruction set only, which
# takes less than half of the time; nothing if BUILD is configured already, or the machine has no AVX2.
set -eu
if [ "$1" = kernels ]; then
    has() { for flag in "$@"; do grep -qw "$flag" /proc/cpuinfo 2>/dev/null || return 1; done; }
    if [ -e "$2/CMakeCache.txt" ]; then
        :
    elif has avx512f avx512dq avx512vl; then
        echo -DBRIO_KERNELS=avx512
    elif has avx2 fma; then
        echo -DBRIO_KERNELS=avx2
    fi
    exit
fi
brio=$1 out=$2

mkdir -p "$out"
echo "A soft bunny jumps on a trampoline: with backward Euler, which damps it, and with A-search, which"
echo "keeps its energy. The same scene, the same step of 1/60 s. The curve in the film is the total energy."
echo
# Side by side: the second run uses the cores better than a second thread would.
"$brio" run scenes/demo.yaml -o "$out/backward-euler" --force --quiet --set integrator=backward-euler --threads 1 &
other=$!
trap 'kill $other 2>/dev/null || true' INT TERM
"$brio" run scenes/demo.yaml -o "$out/a-search" --force --set integrator=a-search --threads 1
wait $other
echo
view="--zoom 1.2 --target 0,0.65,0 --elevation 16"
if command -v ffmpeg >/dev/null 2>&1; then
    film="demo.mp4                     the film: both side by side"
    "$brio" render "$out/backward-euler" "$out/a-search" -o "$out/demo.mp4" --force --size 480x480 --energy $view
else
    film="demo.png                     both at eight instants (a film needs ffmpeg: apt-get install ffmpeg)"
    "$brio" render "$out/backward-euler" "$out/a-search" -o "$out/demo.png" --force --sheet 8 --size 240x240 --energy $view
fi
echo
echo "Open these in a player and a browser:"
echo "  $(pwd)/$out/$film"
echo "  $(pwd)/$out/a-search/report.html         the motion in 3D, energies, times"
echo "  $(pwd)/$out/backward-euler/report.html   the same with backward Euler"
echo
echo "Next: $brio compare demo --integrators backward-euler,bdf2,a-search"
echo "or docs/start.md, the first ten minutes."
