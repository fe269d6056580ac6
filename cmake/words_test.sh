#!/bin/sh
# No identifier brings a retired word back: docs/glossary.md says which, and what to write instead.
#   words_test.sh SOURCE_DIR
set -eu
cd "$1"

# Whole identifiers. Words inside of them: held, most and least, but for phrases (at_most).
retired='BrioShare|brio__share_\w*|BrioParts|brio__parts_\w*|PartsWork|BrioExtra|brio__extra_\w*'
retired="$retired|BrioLook|BrioObstacleLook|look_count|BrioWhole|plane_term|add_plane|linear_made|Made|made"
retired="$retired|first_states?|speaks|tells_\w*|[A-Z]+_SHARE|\w+_share|(VALUE|CHUNK|HESSIAN)_BLOCKS"
retired="$retired|held|HeldNode|held_\w*|\w+_held|\w+_held_\w*|(most|least)_\w*|\w+_(most|least)|\w+_shares"
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

# renamed.h has the old names of the public interface.
files=$(find include src cli tests examples web integrations -name '*.[ch]' -o -name '*.def' |
    grep -vE 'node_modules|include/brio/renamed\.h')
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
phrases="$phrases|stands? in the way|give[ns]? time\\.h a length|\\b(anew|besides)\\b|[0-9]+(\\.[0-9]+)? a step\\b"
phrases="$phrases|answered with the|contact of everything|through which nothing|must begin apart|leave [a-z]+ out\\b|: leave out|or leave out"
phrases="$phrases|[Rr]efuses (first|initial)|(is|are|was|were) refused\\b|number by number|needs no words"
phrases="$phrases|eats the energy|what alpha cannot|whole number of|a whole number|[Mm]easured in the way"
phrases="$phrases|\\bbeside (the|a|an|its?|them|what|each|those|any|one|this|that|all|two|other|every)\\b"
phrases="$phrases|the least (of|and|above|time|times|distance|weight|value|number|energy|node|block|corner)\\b"
phrases="$phrases|\\b(standard|least|most) value\\b|a share of\\b|held vert|(vertices|corners|ends) (are|is) held"
phrases="$phrases|go(es)? with (barriers|contact|rods|springs|obstacles)|[A-Z]. is not known\\b|steps? of any length|for ever\\b|stands there\\b"
find_phrases() {
    grep -nE "$phrases" "$@"
}
# What the table of CONTRIBUTING.md retires is found, phrase by phrase.
retired_phrases() {
    awk -F' *[|] *' '/^\| not \| but \|/ { inside = 1; next } !/^\|/ { inside = 0 } inside && $2 !~ /^-/ { print $2 }' \
        CONTRIBUTING.md | sed 's/; /\n/g'
}
[ "$(retired_phrases | wc -l)" -ge 25 ] || { echo "the table of retired phrases was not found"; exit 1; }
retired_phrases | while read -r text; do
    printf '%s.\n' "$text" >"$sample"
    find_phrases "$sample" >/dev/null || { echo "the retired phrase \"$text\" is not found"; exit 1; }
done
for text in 'The first state' '3 iterations a step' 'one file a frame' 'they look to different sides' 'every so many-th' \
    'steps choose themselves' 'elements without size' 'How near all are' 'built anew' 'x.png is there already' \
    'a step that leads nowhere' '3 a vertex' 'blocks beside the pattern' 'what stands in the way of it' 'is refused' \
    'the least of three' 'held vertices' 'does not go with barriers' 'a share of it'; do
    printf '%s.\n' "$text" >"$sample"
    find_phrases "$sample" >/dev/null || { echo "the retired phrase \"$text\" was not found"; exit 1; }
done
texts=$(find README.md SECURITY.md docs include src cli tests examples python web integrations scenes -name '*.md' -o -name '*.[ch]' \
    -o -name '*.def' -o -name '*.py' -o -name '*.js' -o -name '*.mjs' -o -name '*.ts' -o -name '*.hpp' -o -name '*.yaml' |
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
