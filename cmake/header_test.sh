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

sed -nE 's/^BRIO_API [^(]*[ *](brio_[a-z0-9_]+)\(.*/\1/p' $headers | sort >"$folder/header"
[ "$(cat $headers | grep -c '^BRIO_API ')" = "$(wc -l <"$folder/header")" ] || { echo "a line with BRIO_API names no function" >&2; exit 1; }
nm -D --defined-only "$library" | awk '{ print $3 }' | grep -v '^BRIO_' | sort >"$folder/library"
if ! diff "$folder/header" "$folder/library"; then
    echo "< only in the headers, > only in $library" >&2
    exit 1
fi
echo "$(wc -l <"$folder/header") functions in the header, as many in the library"
