#!/bin/sh
# No identifier brings a retired word back: docs/glossary.md says which, and what to write instead.
#   words_test.sh SOURCE_DIR
set -eu
cd "$1"

# Whole identifiers. Words inside of them: held, most and least, but for phrases (at_most).
retired='BrioShare|brio__share_\w*|BrioParts|brio__parts_\w*|PartsWork|BrioExtra|brio__extra_\w*'
retired="$retired|BrioLook|BrioObstacleLook|look_count|BrioWhole|plane_term|add_plane|linear_made|Made|made"
retired="$retired|first_states?|speaks|tells_\w*|[A-Z]+_SHARE|\w+_share|(VALUE|CHUNK|HESSIAN)_BLOCKS"
retired="$retired|held|HeldNode|held_\w*|\w+_held|\w+_held_\w*|(most|least)_\w*|\w+_(most|least)"
retired="$retired|(\w+_)?(MOST|LEAST)(_\w+)?|\w*leads_nowhere"
# The public interface has its own list of renamed things (CHANGELOG.md).
allowed='at_most|at_least'

# "file:line: identifiers" without comments and strings
code() {
    awk 'FNR == 1 { inside = 0 }
    {
        line = $0
        gsub(/\\./, "", line)
        out = ""
        while (line != "") {
            if (inside) {
                if (!(at = index(line, "*/"))) break
                line = substr(line, at + 2)
                inside = 0
            } else if (match(line, /\/\*|\/\/|"[^"]*"/)) {
                out = out substr(line, 1, RSTART - 1) " "
                start = substr(line, RSTART, 2)
                if (start == "//") break
                inside = start == "/*"
                line = substr(line, RSTART + (inside ? 2 : RLENGTH))
            } else {
                out = out line
                break
            }
        }
        gsub(/[^A-Za-z0-9_]+/, " ", out)
        print FILENAME ":" FNR ": " out
    }' "$@"
}
find_retired() {
    code "$@" | grep -E "^[^ ]+ (.* )?($retired)( |\$)" | sed -E "s/ /  /g; s/ ($allowed)( |\$)/\\2/g" |
        grep -E "^[^ ]+ (.* )?($retired)( |\$)"
}

# The test can fail, and reads code only.
sample=$(mktemp)
trap 'rm -f "$sample"' EXIT
printf 'int x; /* held_count\n made */ char *s = "BrioShare"; // plane_term\n' >"$sample"
if find_retired "$sample" >/dev/null; then echo "comments or strings were read"; exit 1; fi
for name in 'BrioShare *share;' 's->held_count' 'enum { MOST_ROWS };' 'x.edge_most'; do
    printf '%s\n' "$name" >"$sample"
    find_retired "$sample" >/dev/null || { echo "$name was not found"; exit 1; }
done

files=$(find include src cli tests examples web integrations -name '*.[ch]' -o -name '*.def' | grep -v node_modules)
if find_retired $files; then
    echo "Retired words: docs/glossary.md has the ones to use."
    exit 1
fi

# Retired phrases, in manuals, messages, comments and scenes; the tables that retire them aside.
phrases='first states?\b|whole numbers?\b|what nothing carries|[Tt]wo forces a|[Ww]ho advances|the affair of'
phrases="$phrases|(frames|iterations|substeps|forces|solves|systems?|stages|files?) a (second|step|frame|tet|vertex|body)\\b"
phrases="$phrases|taken is the|taken is (neo|back)|looks? to (different|the same|one) sides?|not wanted\\b|so many-th"
phrases="$phrases|\\b(has|have) eaten\\b|eats (none|motion)|as a share of the energy|[Bb]rakes (every|vibrations)"
phrases="$phrases|stretch, bounce and collide|[Ll]east of several|knows no (motion|stiffness)|holds? (no )?tets: take"
phrases="$phrases|choose themselves|elements? without size|takes no barriers|where to\\? Give"
phrases="$phrases|fit for (a solid|springs)|How near (all|to the reference)|more pairs? so|the others stand still"
phrases="$phrases|\\banew\\b|\\bin place of\\b|\\bat hand\\b|(is|are) there already|\\bfiles? that (is|are) there\\b"
phrases="$phrases|leads? nowhere|does not go with (contact|rods)|[Mm]emory is lacking|under way\\b|of use\\b"
phrases="$phrases|beside (the pattern|an installed|its values|gravity)|[0-9] a (pixel|triangle|vertex|node|row)\\b"
phrases="$phrases|stands? in the way|give[ns]? time\\.h a length"
find_phrases() {
    grep -nE "$phrases" "$@"
}
for text in 'The first state' '3 iterations a step' 'one file a frame' 'they look to different sides' 'every so many-th' \
    'steps choose themselves' 'elements without size' 'How near all are' 'built anew' 'x.png is there already' \
    'a step that leads nowhere' '3 a vertex' 'blocks beside the pattern' 'what stands in the way of it'; do
    printf '%s.\n' "$text" >"$sample"
    find_phrases "$sample" >/dev/null || { echo "the retired phrase \"$text\" was not found"; exit 1; }
done
texts=$(find README.md SECURITY.md docs include src cli tests examples python web integrations scenes -name '*.md' -o -name '*.[ch]' \
    -o -name '*.def' -o -name '*.py' -o -name '*.js' -o -name '*.mjs' -o -name '*.yaml' |
    grep -vE 'node_modules|docs/glossary\.md')
if find_phrases $texts; then
    echo "Retired phrases: CONTRIBUTING.md and docs/glossary.md have the ones to use."
    exit 1
fi

# Prose of the manuals ends at 100 columns; tables, code, headings and links aside. Pages that the program or the
# docstrings write are theirs.
narrow_later='scene|commands|python-api|theory|notation|stabilised|decoupled|variational|errata'
wide=$(LC_ALL=C awk 'FNR == 1 { code = 0 } /^ *```/ { code = !code; next }
    code || /^(\||#|    |!\[|<|\[)/ { next }
    { line = $0; gsub(/[\200-\277]/, "", line); if (length(line) > 100) print FILENAME ":" FNR ": " length(line) " columns" }' \
    README.md CONTRIBUTING.md CHANGELOG.md $(ls docs/*.md | grep -vE "/($narrow_later)\.md"))
if [ -n "$wide" ]; then
    echo "$wide"
    echo "Prose ends at 100 columns."
    exit 1
fi
