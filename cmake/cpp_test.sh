#!/bin/sh
# The C++ header: at most 200 lines, without a warning under the compilers that are here, and a program that uses it:
#   cpp_test.sh SOURCE_DIR LIBRARY CXX...
set -eu
source=$1 library=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
lines=$(wc -l <"$source/include/brio/brio.hpp")
[ "$lines" -le 200 ] || { echo "brio.hpp has $lines lines: 200 are the most" >&2; exit 1; }
tried=0
for compiler in "$@"; do
    command -v "$compiler" >/dev/null 2>&1 || continue
    echo '#include <cstddef>' | "$compiler" -xc++ -std=c++17 -fsyntax-only - 2>/dev/null || continue
    "$compiler" -std=c++17 -O1 -Wall -Wextra -Wpedantic -Wshadow -Werror -I"$source/include" "$source/tests/wrapper.cpp" \
        "$library" -Wl,-rpath,"$(dirname "$library")" -o "$folder/wrapper"
    (cd "$source" && "$folder/wrapper") | tail -1 | grep -qx "The end" || { (cd "$source" && "$folder/wrapper"); exit 1; }
    tried=$((tried + 1))
done
[ $tried -gt 0 ] || { echo "SKIPPED: there is no C++ compiler; apt-get install g++"; exit 77; }
echo "brio.hpp: $lines lines, used by programs of $tried compilers"
