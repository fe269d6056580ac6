#!/bin/sh
# Has other programs read what brio writes for them:  clients.sh BUILD_DIR
# Jupyter executes the notebooks of the Python package. Blender opens point caches and a glb, VTK the .pvd, Khronos' validator and three.js the glb, three.js the usda; vertices must be ours. A program that
# is not there is named and fails the test; BRIO_CLIENTS="vtk blender" chooses some of them.
# addon: our add-on in Blender, driven by its operators; window: the same in a window, with pictures in BUILD_DIR/clients/window.
set -eu

build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")/../tests/clients" && pwd)
work=$build/clients
clients=${BRIO_CLIENTS:-vtk blender addon window node notebooks}
python=${PYTHON:-/usr/bin/python3}
brio=$build/brio
failed=""

# Blender with the add-on, in folders of its own: what the user has installed stays as it is.
with_addon() { # NAME PROGRAM...
    name=$1
    shift
    rm -rf "$work/$name" "$work/$name.user"
    "$python" -B "$(dirname "$0")/brio_blender.py" "$brio" "$build/blender/brio_blender.zip" &&
        BLENDER_USER_CONFIG="$work/$name.user" BLENDER_USER_SCRIPTS="$work/$name.user" "$@" \
            --python-exit-code 1 --python "$here/blender/${name}_check.py" -- \
            "$brio" "$build/blender/brio_blender.zip" "$work/$name" >"$work/$name.log" 2>&1 ||
        { tail -40 "$work/$name.log"; return 1; }
    grep -E "^(bake|plays|vertices|second|from here|cancel|resume|error|pins|window|Blender [0-9].*:)" "$work/$name.log"
}

mkdir -p "$work"
"$python" "$here/make_scene.py" "$work"
"$brio" run "$work/scene.yaml" -o "$work/run" --force --quiet >/dev/null
"$brio" convert "$work/run" -o "$work/film.glb" --force --quiet
"$brio" convert "$work/run" -o "$work/film.usda" --force --quiet
"$brio" convert "$work/run" -o "$work/vtk.pvd" --force --quiet
for extension in pc2 mdd; do
    "$brio" convert "$work/run" -o "$work/$extension.$extension" --force --quiet
done

# VTK goes first: it reads our doubles, which the others are compared with.
for client in vtk $(echo " $clients " | sed 's/ vtk / /'); do
    echo "clients: $client"
    case $client in
        vtk)
            "$python" "$here/vtk_check.py" "$work/run" "$work" || failed="$failed vtk"
            ;;
        blender)
            if blender -b --factory-startup --python-exit-code 1 --python "$here/blender_check.py" -- "$work" 30 >"$work/blender.log" 2>&1; then
                grep -E "^(pc2|mdd|glb|Blender [0-9].*:)" "$work/blender.log"
            else
                failed="$failed blender"
                tail -40 "$work/blender.log"
            fi
            ;;
        addon)
            with_addon addon blender -b --factory-startup || failed="$failed addon"
            ;;
        window)
            with_addon window xvfb-run -a -s "-screen 0 1600x1150x24" blender --factory-startup -p 0 0 1600 1150 || failed="$failed window"
            ;;
        node)
            cp "$here/package.json" "$here/package-lock.json" "$work"
            [ -f "$work/node_modules/.package-lock.json" ] && [ "$work/node_modules/.package-lock.json" -nt "$here/package-lock.json" ] ||
                (cd "$work" && npm ci --silent --no-audit --no-fund)
            node "$here/node_check.mjs" "$work" 30 || failed="$failed node"
            ;;
        notebooks)
            for name in first_soft_body own_integrator; do
                PYTHONPATH="$here/../../python" "$python" -m nbconvert --to html --execute --output-dir "$work" \
                    "$here/../../python/notebooks/$name.ipynb" >"$work/notebooks.log" 2>&1 &&
                    grep -q "The end" "$work/$name.html" && grep -q "iframe\|yours" "$work/$name.html" ||
                    { failed="$failed notebooks"; tail -20 "$work/notebooks.log"; }
            done
            ;;
        *)
            echo "clients: no client \"$client\"; there are vtk, blender, addon, window, node, notebooks" >&2
            exit 2
            ;;
    esac
done
[ -z "$failed" ] || { echo "clients: failed:$failed" >&2; exit 1; }
echo "clients: all read what we wrote"
