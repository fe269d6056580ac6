#!/bin/sh
# The demo:  demo.sh BRIO FOLDER
# One scene under backward Euler, which eats the motion, and under a-search, which keeps it; a report with both and, where ffmpeg is there, a film.
set -eu
brio=$1 out=$2

mkdir -p "$out"
echo "A soft bar, wound up and let go, by two integrators with the same step:"
echo
"$brio" compare scenes/demo.yaml --integrators backward-euler,a-search -o "$out" --force
echo
echo "The same two as runs of their own, and drawn:"
for name in backward-euler a-search; do
    "$brio" run scenes/demo.yaml -o "$out/$name" --force --set integrator=$name >/dev/null # what is left is its progress
done
if command -v ffmpeg >/dev/null 2>&1; then
    film="demo.mp4               the film"
    "$brio" render "$out/backward-euler" "$out/a-search" -o "$out/demo.mp4" --force --color strain --stamp --size 560x640
else
    film="demo.png               both at six instants (a film needs ffmpeg: apt-get install ffmpeg)"
    "$brio" render "$out/backward-euler" "$out/a-search" -o "$out/demo.png" --force --color strain --sheet 6 --size 260x320
fi
echo
echo "Open these in a browser and a player:"
echo "  $(pwd)/$out/report.html            both side by side: the motion in 3D, energies, times"
echo "  $(pwd)/$out/a-search/report.html   one of the runs by itself"
echo "  $(pwd)/$out/$film"
echo "What next: docs/start.md, the first ten minutes."
