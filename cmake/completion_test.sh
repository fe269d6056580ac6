#!/bin/sh
# Completions and manual page, tried in the shells and by groff where they are:  completion_test.sh BRIO
set -eu

brio=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/results" "$folder/other" && : >"$folder/own scene.yaml"
for shell in bash zsh fish; do "$brio" completion $shell >"$folder/brio.$shell"; done

# What a shell offers for a line that is being typed, sorted, in one line.
bash_offers() {
    (cd "$folder" && bash -c 'source ./brio.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _brio; [ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"' bash "$@") | sort | tr '\n' '|'
}
fish_offers() {
    (cd "$folder" && HOME=$folder fish --no-config -c 'source ./brio.fish; complete -C "$argv"' "$*") | cut -f1 | sort | tr '\n' '|'
}
# zsh completes at a terminal only, here that of zsh/zpty: LINE and the Tab key make it a line that holds WANTED, and nothing complains.
zsh_completes() {
    said=$(cd "$folder" && timeout 60 zsh -f ./try.zsh "$1" "$2" 2>&1) || said="nothing ($said)"
    case $said in
    *"bad option"* | *"not found"* | nothing*)
        echo "zsh, \"$1\": says \"$said\" instead of \"$2\"" >&2
        exit 1
        ;;
    esac
}
cat >"$folder/try.zsh" <<'EOF'
zmodload zsh/zpty
zpty shell 'TERM=dumb zsh -fi'
zpty -w shell 'autoload -U compinit; compinit -D -u; source ./brio.zsh; print rea""dy'
zpty -r shell said '*ready*'
zpty -n -w shell "$1"$'\t'
zpty -r shell said "*$2*"
print -r -- "$said"
EOF
expect() {
    shell=$1 wanted=$2
    shift 2
    found=$(${shell}_offers "$@")
    if [ "$found" != "$wanted" ]; then
        echo "$shell, \"$*\": offers \"$found\" instead of \"$wanted\"" >&2
        exit 1
    fi
}

for shell in bash fish; do
    if ! command -v $shell >/dev/null 2>&1; then
        echo "there is no $shell here to try its completion in"
        continue
    fi
    expect $shell "render|reproduce|" brio re
    expect $shell "--force|" brio run --fo
    expect $shell "cloth|" brio run cl
    expect $shell "trapezoidal|" brio compare cloth --integrators trape
    expect $shell "bdf2,trapezoidal|" brio compare cloth --integrators bdf2,trape
    expect $shell "scenes|" brio list sce
    expect $shell "zsh|" brio completion z
    expect $shell "you2026-table1|you2026-table1-contact|you2026-table1-large|you2026-table2|" brio reproduce you2026-table
done
expect bash "results|" brio view re
expect bash "own scene.yaml|" brio run own
expect bash "other|" brio run cloth -o o
expect bash "" brio run cloth --set ""
if command -v zsh >/dev/null 2>&1; then
    zsh -n "$folder/brio.zsh"
    zsh -fc "autoload -U compinit && compinit -D -u -d $folder/dump && source $folder/brio.zsh && [[ \$_comps[brio] == _brio ]]"
    zsh_completes "brio stab" "stability"
    zsh_completes "brio run --fo" "--force"
    zsh_completes "brio run cloth --fo" "--force"
    zsh_completes "brio run scr" "scripted-twist"
    zsh_completes "brio run own" "scene.yaml"
    zsh_completes "brio list sce" "scenes"
    zsh_completes "brio view res" "results/"
    zsh_completes "brio compare cloth --integrators trape" "trapezoidal"
    zsh_completes "brio compare cloth --integrators bdf2,trape" "bdf2,trapezoidal"
else
    echo "there is no zsh here to try its completion in"
fi

"$brio" help --man >"$folder/brio.1"
for name in $("$brio" help | sed -n 's/^  brio \([a-z]*\) .*/\1/p'); do
    grep -q "^\.SS brio $name$" "$folder/brio.1" || { echo "the manual page does not have $name" >&2; exit 1; }
done
if command -v groff >/dev/null 2>&1; then
    groff -man -Kutf8 -Tutf8 -ww -rLL=100n "$folder/brio.1" >"$folder/page" 2>"$folder/complaints"
    if [ -s "$folder/complaints" ]; then
        cat "$folder/complaints" >&2
        exit 1
    fi
    grep -q "Replace earlier results" "$folder/page"
fi
echo "completions and manual page are right"
