#!/bin/sh
# The demo:  demo.sh BRIO FOLDER
# One scene with two methods and the same step: a film of both side by side (if ffmpeg is installed),
# a report of each, and a page that compares them.
set -eu
brio=$1 out=$2

mkdir -p "$out"
echo "A soft bunny jumps on a trampoline: with backward Euler, which damps it, and with A-search, which"
echo "keeps its energy. The same scene, the same step of 1/60 s."
echo
for name in backward-euler a-search; do
    "$brio" run scenes/demo.yaml -o "$out/$name" --force --set integrator=$name
    echo
done
view="--zoom 1.35 --target 0,0.72,0 --elevation 16"
if command -v ffmpeg >/dev/null 2>&1; then
    film="demo.mp4                     the film: both side by side"
    "$brio" render "$out/backward-euler" "$out/a-search" -o "$out/demo.mp4" --force --size 560x560 $view
else
    film="demo.png                     both at eight instants (a film needs ffmpeg: apt-get install ffmpeg)"
    "$brio" render "$out/backward-euler" "$out/a-search" -o "$out/demo.png" --force --sheet 8 --size 240x240 $view
fi
echo
echo "Open these in a player and a browser:"
echo "  $(pwd)/$out/$film"
echo "  $(pwd)/$out/a-search/report.html         the motion in 3D, energies, times"
echo "  $(pwd)/$out/backward-euler/report.html   the same with backward Euler"
echo
echo "Next: $brio compare demo --integrators backward-euler,bdf2,a-search"
echo "or docs/start.md, the first ten minutes."
