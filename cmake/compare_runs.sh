#!/bin/sh
# Whole runs of shipped scenes, an old brio against a new one, alternating:
#     sh cmake/compare_runs.sh OLD NEW [TIMES] [THREADS] [SCENE...]
# Prints the minimum of the wall seconds and of the user seconds of each, their ratios, and the
# energies at the end.
set -e
old=$1 new=$2 times=${3:-3} threads=${4:-2}
[ $# -gt 4 ] && shift 4 || set -- twisted-bar cube-soft membrane ball-soft dice stairs
scenes=$(dirname "$0")/../scenes
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

until_time() {
    case $1 in
        twisted-bar) echo 0.5 ;;
        membrane) echo 0.1 ;;
        dice) echo 0.6 ;;
        stairs) echo 0.3 ;;
        *) echo 1 ;;
    esac
}

# run BRIO SCENE FILE: appends "wall user" to FILE, and leaves the energy in FILE.energy.
run() {
    /usr/bin/time -a -o "$3" -f "%e %U" "$1" run "$scenes/$2.yaml" --threads "$threads" --quiet \
        --set "time.end=$(until_time "$2")" --set 'output.frames=[]' -o "$out/run" --force
    sed -n 's/.*"last_energy": *\([^,}]*\).*/\1/p' "$out/run/run.json" >"$3.energy"
}

minimum() { sort -g -k "$2,$2" "$1" | head -n 1 | cut -d ' ' -f "$2"; }

echo "scene        old wall  user  new wall  user  ratio wall  user  energy old, new"
for scene in "$@"; do
    for i in $(seq "$times"); do
        run "$old" "$scene" "$out/$scene.old"
        run "$new" "$scene" "$out/$scene.new"
    done
    echo "$scene $(minimum "$out/$scene.old" 1) $(minimum "$out/$scene.old" 2)" \
        "$(minimum "$out/$scene.new" 1) $(minimum "$out/$scene.new" 2)" \
        "$(cat "$out/$scene.old.energy") $(cat "$out/$scene.new.energy")" |
        awk '{ printf "%-12s %8.2f %5.2f  %8.2f %5.2f  %10.2f %5.2f  %s %s\n", $1, $2, $3, $4, $5,
               $2 / $4, $3 / $5, $6, $7 }'
done
