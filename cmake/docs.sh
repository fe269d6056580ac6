#!/bin/sh
# Builds the documentation site, and the theory as a PDF:  docs.sh SOURCE_DIR BUILD_DIR [FOLDER]
# The site goes to BUILD_DIR/site, or, without a PDF, to BUILD_DIR/FOLDER.
# npm fetches KaTeX into the build folder once; later builds need no network. Without it formulas stay as they are written,
# and without Chromium there is no PDF: both are said.
set -eu

source=$(cd "$1" && pwd)
mkdir -p "$2"
build=$(cd "$2" && pwd)
folder=$build/web/site
mkdir -p "$folder"
cp "$source/web/site/package.json" "$source/web/site/package-lock.json" "$folder"

katex=""
if cmp -s "$folder/package-lock.json" "$folder/node_modules/.installed" ||
    { command -v npm >/dev/null 2>&1 && (cd "$folder" && npm ci --no-audit --no-fund --no-progress --loglevel=error >npm.log 2>&1) &&
        cp "$folder/package-lock.json" "$folder/node_modules/.installed"; }; then
    katex=$folder
else
    echo "docs: npm could not fetch KaTeX (see $folder/npm.log); formulas stay as they are written." >&2
fi
site=$build/${3:-site} pdf=""
if [ $# -lt 3 ]; then
    chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
    pdf=${katex:+$chromium}
    [ -n "$pdf" ] || echo "docs: no PDF of the theory: it needs Chromium and KaTeX." >&2
fi

cd "$source"
BRIO_SITE_KATEX=$katex BRIO_SITE_PDF=$pdf mkdocs build --quiet --strict --clean --site-dir "$site"

if [ -n "$pdf" ]; then
    profile=$(mktemp -d)
    trap 'rm -rf "$profile"' EXIT
    "$pdf" --headless --no-sandbox --disable-gpu --user-data-dir="$profile" --allow-file-access-from-files \
        --no-pdf-header-footer --generate-pdf-document-outline --virtual-time-budget=5000 \
        --print-to-pdf="$site/brio-theory.pdf" "file://$site/theory-book.html" >"$folder/pdf.log" 2>&1 &&
        [ -s "$site/brio-theory.pdf" ] || { cat "$folder/pdf.log" >&2; exit 1; }
fi
python3 -B "$source/web/site/check.py" "$site"
