#!/bin/sh
# Every C file is as clang-format leaves it, and no line is longer than 100 characters.
#   format_test.sh SOURCE_DIR
set -eu
cd "$1"
files=$(find include src cli tests examples web -name '*.[ch]' -not -path '*/node_modules/*')
long=$(LC_ALL=C.UTF-8 awk 'length > 100 { print FILENAME ":" FNR ": " length " characters" }' $files)
[ -z "$long" ] || { echo "$long"; echo "Lines end at 100 columns."; exit 1; }
if ! command -v clang-format >/dev/null 2>&1; then
    echo "SKIPPED: there is no clang-format; apt-get install clang-format"
    exit 77
fi
clang-format --dry-run --Werror $files || { echo "make format puts this right."; exit 1; }
