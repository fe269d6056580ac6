// Typesets the formulas of the guide while the page is built: tex`...` (a line of its own) and
// inline`...` in src/guide become MathML, which browsers draw without fonts or scripts of ours.
// \one{...} to \five{...} are the terms of a formula that have the colours of the picture.
import { readFileSync } from 'node:fs';
import katex from 'katex';

// Colours that stand for the classes t1 to t5 until the formula is typeset.
const TERMS = { one: 'maroon', two: 'teal', three: 'navy', four: 'olive', five: 'purple' };
const macros = Object.fromEntries(
  Object.entries(TERMS).map(([name, colour]) => [`\\${name}`, `\\textcolor{${colour}}{#1}`]),
);
const classOf = (colour) => `class="t${Object.values(TERMS).indexOf(colour) + 1}"`;

export function mathml(source, displayMode) {
  const options = { output: 'mathml', displayMode, macros: { ...macros }, strict: 'error' };
  return katex
    .renderToString(source, options)
    .replace(/^<span[^>]*>|<\/span>$/g, '')
    .replace(/<annotation[^>]*>[^]*?<\/annotation>/g, '')
    .replace(/<\/?semantics>/g, '')
    .replace(/ xmlns="[^"]*"/g, '')
    .replace(/mathcolor="(\w+)"/g, (_, colour) => classOf(colour));
}

const literal = /\b(tex|inline)`([^`]*)`/g;

export const equations = {
  name: 'equations',
  setup(build) {
    build.onLoad({ filter: /src\/guide\/[^/]+\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(literal, (_, kind, source) =>
        JSON.stringify(mathml(source, kind === 'tex')),
      ),
      loader: 'js',
    }));
  },
};
