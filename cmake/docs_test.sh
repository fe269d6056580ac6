#!/bin/sh
# Builds the documentation site and looks for broken links, formulas that fail and words that the search does not find:
#   docs_test.sh SOURCE_DIR BUILD_DIR
set -eu
source=$1 build=$2
command -v mkdocs >/dev/null 2>&1 || { echo "SKIPPED: there is no mkdocs; apt-get install mkdocs"; exit 77; }
command -v node >/dev/null 2>&1 || { echo "SKIPPED: there is no Node.js; apt-get install nodejs npm"; exit 77; }

sh "$source/cmake/docs.sh" "$source" "$build" tests/site
site=$build/tests/site
[ -d "$site/katex" ] || echo "SKIPPED: formulas: npm could not fetch KaTeX"

# The check can fail: a link to nowhere, and one to an anchor that is not there.
sample=$(mktemp -d)
trap 'rm -rf "$sample"' EXIT
cp "$site/c-api.html" "$sample"
printf '<a href="nowhere.html">x</a><a href="c-api.html#nowhere">x</a><span class="katex-error">x</span>' >"$sample/sample.html"
if python3 -B "$source/web/site/check.py" "$sample" >/dev/null 2>"$sample/faults"; then echo "broken links were not found"; exit 1; fi
for fault in 'sample.html: nowhere.html is not there' 'c-api.html#nowhere: there is no such anchor' 'sample.html: a formula was not typeset'; do
    grep -q "$fault" "$sample/faults" || { echo "not found: $fault"; exit 1; }
done

node "$source/web/site/test.mjs" "$site" "$build/web/report"
