#!/bin/sh
# Makes the pictures of the documentation from shipped scenes:
#   make_pictures.sh [build/brio [docs/pictures]]
# Some minutes on two cores. Run it again after a change of the scenes or of how they are drawn.
set -eu
brio=${1:-build/brio} out=${2:-docs/pictures}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

run() { # NAME SCENE [options]
    name=$1 scene=$2
    shift 2
    "$brio" run "$scene" -o "$work/$name" --quiet --set output.frames=[] "$@"
}
weigh() { # FILE
    bytes=$(wc -c <"$out/$1")
    echo "$out/$1: $bytes bytes"
    [ "$bytes" -le 100000 ] || { echo "$out/$1 has more than 100000 bytes" >&2; exit 1; }
}
keep() { # PICTURE FILE: in 256 colours if there is ffmpeg, which is a third of the size
    if command -v ffmpeg >/dev/null; then
        palette="split[a][b];[a]palettegen=max_colors=256[p];[b][p]paletteuse=dither=sierra2_4a"
        ffmpeg -loglevel error -y -i "$1" -vf "$palette" "$out/$2"
    else
        cp "$1" "$out/$2"
    fi
    weigh "$2"
}
draw() { # FILE RUN... options
    file=$1
    shift
    "$brio" render "$@" -o "$work/drawn.png" --force --quiet
    keep "$work/drawn.png" "$file"
}
plot() { # FILE CHART SCENE options: a chart of a comparison
    file=$1 chart=$2
    shift 2
    "$brio" compare "$@" -o "$work/$file" --quiet >"$work/table"
    cp "$work/$file/$chart.svg" "$out/$file"
    weigh "$file"
}

# what integrators do to energy, momentum and time (integrators.md)
methods=backward-euler,bdf2,sdirk2,generalized-alpha,implicit-midpoint,a-search
small='bodies.0.shape.cells=[3, 3, 3]'
plot integrators-bar.svg energy wound-bar --integrators $methods --h 1/60 --set time.end=3
plot integrators-spin.svg energy spinning-cube --integrators $methods --h 1/50 --set time.end=2 --set "$small"
plot integrators-momentum.svg angular-momentum spinning-cube --integrators $methods --h 1/50 --set time.end=2 --set "$small"
plot integrators-ball.svg energy ball-soft --integrators $methods --set time.end=3 --set bodies.0.shape.cells=4
plot integrators-cost.svg work-precision spinning-cube --integrators $methods,verlet,rk4 --h 1/25,1/50,1/100,1/200,1/400,1/800,1/1600 \
    --reference rk4:1/10000 --set time.end=0.5 --set 'bodies.0.shape.cells=[4, 4, 4]' --threads 1

# the wound-up bar: above with a-search, below with backward Euler
run lively wound-bar --set integrator=a-search
run dull wound-bar --set integrator=backward-euler
draw wound-bar.png "$work/lively" "$work/dull" --sheet 7 --size 150x250 --color strain --zoom 0.86 --target 0,0.06,0
plot energy.svg energy wound-bar --integrators a-search,backward-euler

# single pictures
run cloth cloth
draw cloth.png "$work/cloth" --time 0.55 --color speed --wire --size 640x420
run twist scripted-twist
draw twist.png "$work/twist" --time 3 --color strain --size 600x280 --wire
run dice dice --set time.end=0.75 --set solver.tol=0.05
draw dice.png "$work/dice" --time 0.72 --size 640x360 --follow --zoom 0.9
run ball ball-soft --set time.end=1.0 --set bodies.0.shape.cells=6 --set integrator.type=a-search
draw ball.png "$work/ball" --from 0.43 --to 0.51 --sheet 6 --size 200x190 --color strain --target 0,0.07,0 --zoom 6 --azimuth 30 --elevation 12
run caged caged-creatures --set time.end=0.4
draw caged-creatures.png "$work/caged" --time 0.3 --size 640x360 --zoom 1.3
run flag flag --set time.end=2.4
draw flag.png "$work/flag" --time 2.4 --size 640x400
run balloon balloon
draw balloon.png "$work/balloon" --sheet 3 --size 300x240
run wave waving-figure --set time.end=1.25 --set obstacles.1.cells=20
draw gallery-waving-figure.png "$work/wave" --sheet 3 --size 300x240
run door door
draw gallery-door.png "$work/door" --sheet 4 --to 1.2 --size 320x240 --azimuth 60 --elevation 22
run links links
draw gallery-links.png "$work/links" --sheet 4 --to 2 --size 320x240 --follow --zoom 0.9
run puppet puppet
draw gallery-puppet.png "$work/puppet" --sheet 4 --to 1.35 --size 320x240
run stitched stitched-trampoline
draw gallery-stitched-trampoline.png "$work/stitched" --sheet 4 --size 320x240
run nose rt-nose --set time.end=0.5
draw gallery-nose.png "$work/nose" --sheet 3 --size 300x240
run hippo rt-hippo --set time.end=1.5
draw gallery-hippo.png "$work/hippo" --sheet 3 --size 300x240 --checks
run stairs stairs --set time.end=1.2 --set bodies.0.shape.cells=5
draw gallery-stairs.png "$work/stairs" --sheet 3 --from 0.3 --to 0.9 --size 300x240 --checks --follow --zoom 0.75
run horn rt-horn --set time.end=1
draw gallery-horn.png "$work/horn" --sheet 3 --size 300x240 --color speed
run axis intermediate-axis --set time.end=3
draw gallery-axis.png "$work/axis" --sheet 6 --size 200x170 --checks
run drum membrane --set time.end=0.12 --set bodies.0.shape.rings=48
draw membrane.png "$work/drum" --time 0.05 --color strain --size 640x360

# a film's contact sheet and the reports, where there are programs for it
if command -v ffmpeg >/dev/null; then
    # the demo, moving: left backward Euler, right a-search
    run alive demo
    run dead demo --set integrator=backward-euler
    "$brio" render "$work/dead" "$work/alive" -o "$work/demo.mp4" --quiet --size 480x480 --energy --zoom 1.2 --target 0,0.65,0 --elevation 16
    palette="fps=12,scale=600:-1:flags=lanczos,split[a][b];[a]palettegen=max_colors=96[p];[b][p]paletteuse=dither=bayer:bayer_scale=5"
    ffmpeg -loglevel error -y -i "$work/demo.mp4" -vf "$palette:diff_mode=rectangle" "$out/demo.gif"
    "$brio" render "$work/lively" "$work/dull" -o "$work/bar.mp4" --quiet --color strain --stamp --size 300x330 --zoom 0.82
    ffmpeg -loglevel error -y -i "$work/bar.mp4" -vf "fps=2,tile=2x3:margin=4:padding=4:color=white" -frames:v 1 "$work/film.png"
    keep "$work/film.png" film.png
fi
modules=$(dirname "$brio")/web/report
if [ -d "$modules/node_modules/playwright-core" ] && command -v chromium >/dev/null && command -v ffmpeg >/dev/null; then
    shoot() { # REPORT FILE WIDTH HEIGHT SCHEME TIME
        node web/report/shoot.mjs "$1" "$work/shot.png" "$3" "$4" "$5" "$6" "$modules"
        keep "$work/shot.png" "$2"
    }
    shoot "$work/dice/report.html" report.png 1000 1150 light 0.55
    shoot "$work/energy.svg/report.html" report-compare.png 1000 1500 dark 0.9
    shoot "$work/twist/report.html" report-phone.png 360 1100 light 3
fi

# every tab of the playground, where it was built (make playground)
page=$(dirname "$brio")/playground.html
if [ -e "$page" ] && [ -d web/playground/node_modules/playwright-core ] && command -v chromium >/dev/null && command -v ffmpeg >/dev/null; then
    tab() { # FILE VIEW SIZE THEME
        FOLD=1 SIZES=$3 THEMES=$4 node web/playground/shots.mjs "$page" "$work/tabs" "$2" >/dev/null
        keep "$work/tabs/$2-$3-$4.png" "$1"
    }
    tab guide-spring.png chapter-spring 1180x740 light
    tab guide-contact.png chapter-contact 1180x740 dark
    tab playground-cloth.png cut 1180x740 light
    tab playground-soft.png bunnies 1180x740 light
    tab playground-dial.png dial 1180x740 dark
    tab playground-phase.png phase 1180x740 light
    tab playground-stability.png stability 1180x740 light
    tab playground-two.png two 1180x740 dark
    tab playground-phone.png balls 390x844 dark
fi
