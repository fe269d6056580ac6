#!/bin/sh
# The public headers compile without a warning as C11, C17 and C++17 with every compiler that is here, and the shared library
# shows the functions of the header and nothing else:  header_test.sh SOURCE_DIR LIBRARY CC
set -eu

headers=$(ls "$1"/include/brio/*.h) library=$2 cc=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Werror -I$1/include -fsyntax-only"
printf '#include <brio/brio.h>\n#include <brio/by_body.h>\n#include <brio/matrices.h>\n#include <brio/plugin.h>\n#include <brio/stages.h>\n#include <brio/tets.h>\nBrioStatus use(BrioSim *sim);\nBrioStatus use(BrioSim *sim) { return brio_sim_step(sim, 0); }\n' >"$folder/use.c"
cp "$folder/use.c" "$folder/use.cpp"

count=0
for compiler in "$cc" gcc clang; do
    command -v "$compiler" >/dev/null 2>&1 || continue
    for standard in c11 c17; do
        "$compiler" -std=$standard -Wstrict-prototypes $warnings "$folder/use.c"
        count=$((count + 1))
    done
done
for compiler in g++ clang++; do
    command -v "$compiler" >/dev/null 2>&1 || continue
    echo '#include <cstddef>' | "$compiler" -xc++ -std=c++17 -fsyntax-only - 2>/dev/null || continue # a compiler without its library
    "$compiler" -std=c++17 $warnings "$folder/use.cpp"
    count=$((count + 1))
done
echo "the header compiled $count times without a warning"

# Every name of 0.1 compiles, with a warning that says the new one (include/brio/renamed.h).
old_name() { # OLD NEW USE
    printf '#include <brio/brio.h>\nvoid use(void);\nvoid use(void) { (void)(%s); }\n' "$3" >"$folder/old.c"
    "$cc" -std=c17 -Wall -Wextra -Wno-error "-I$source/include" -fsyntax-only "$folder/old.c" 2>"$folder/said" ||
        { cat "$folder/said" >&2; echo "$1 no longer compiles" >&2; exit 1; }
    grep -q "deprecated.*brio 0.2 calls this $2" "$folder/said" ||
        { cat "$folder/said" >&2; echo "the warning for $1 does not name $2" >&2; exit 1; }
    grep -q "\`$1.*$2" "$source/CHANGELOG.md" || { echo "CHANGELOG.md does not have $1 and $2" >&2; exit 1; }
    renamed=$((renamed + 1))
}
source=$1 renamed=0
old_name brio_body_def brio_default_body 'brio_body_def()'
old_name brio_script brio_default_script 'brio_script()'
old_name brio_contact_def brio_default_contact 'brio_contact_def()'
old_name brio_obstacle_def brio_default_obstacle 'brio_obstacle_def()'
old_name brio_solver_options brio_default_solver 'brio_solver_options()'
old_name brio_sim_def brio_default_sim 'brio_sim_def("bdf2")'
old_name brio_material brio_default_material 'brio_material("jelly", (BrioMaterial *)0)'
old_name brio_damping brio_default_damping 'brio_damping("rayleigh", (BrioDamping *)0)'
old_name BRIO_LIST_MOST BRIO_MAX_LIST BRIO_LIST_MOST
old_name BRIO_DAMPING_MOST BRIO_MAX_DAMPING BRIO_DAMPING_MOST
old_name BRIO_HANDS_MOST BRIO_MAX_HANDS BRIO_HANDS_MOST
[ "$(grep -c 'BRIO__RENAMED("' "$source/include/brio/renamed.h")" = "$renamed" ] ||
    { echo "include/brio/renamed.h has names that are not tried here" >&2; exit 1; }
echo "$renamed old names compile, each with a warning that names the new one"

sed -nE 's/^BRIO_API [^(]*[ *](brio_[a-z0-9_]+)\(.*/\1/p' $headers | sort >"$folder/header"
[ "$(cat $headers | grep -c '^BRIO_API ')" = "$(wc -l <"$folder/header")" ] || { echo "a line with BRIO_API names no function" >&2; exit 1; }
nm -D --defined-only "$library" | awk '{ print $3 }' | grep -v '^BRIO_' | sort >"$folder/library"
if ! diff "$folder/header" "$folder/library"; then
    echo "< only in the headers, > only in $library" >&2
    exit 1
fi
echo "$(wc -l <"$folder/header") functions in the header, as many in the library"
