#!/bin/sh
# Every C file is as clang-format leaves it, and no line of C, of the scripts of web/ and of
# integrations/ is longer than 100 characters.
#   format_test.sh SOURCE_DIR
set -eu
cd "$1"
files=$(find include src cli tests examples web integrations -name '*.[ch]' -not -path '*/node_modules/*')
scripts=$(find web integrations \( -name '*.js' -o -name '*.mjs' -o -name '*.ts' -o -name '*.py' \) \
    -not -path '*/node_modules/*')
if LC_ALL=C.UTF-8 grep -nE '.{101}' $files $scripts; then
    echo "Lines end at 100 columns."
    exit 1
fi
if ! command -v clang-format >/dev/null 2>&1; then
    echo "SKIPPED: there is no clang-format; apt-get install clang-format"
    exit 77
fi
clang-format --dry-run --Werror $files || { echo "make format puts this right."; exit 1; }
