// Typesets the formulas of the guide while the page is built: tex`...` (a line of its own) and
// inline`...` in src/guide become HTML of KaTeX, with MathML next to it for screen readers. Its
// style
// and the fonts that the formulas use go into the page; no script does.
// \one{...} to \five{...} are the terms of a formula that have the colours of the picture.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import katex from 'katex';

// Colours that stand for those of the picture until the formula is typeset.
const TERMS = { one: 'maroon', two: 'teal', three: 'navy', four: 'olive', five: 'purple' };
const macros = Object.fromEntries(
  Object.entries(TERMS).map(([name, colour]) => [`\\${name}`, `\\textcolor{${colour}}{#1}`]),
);
const term = (colour) => `var(--t${Object.values(TERMS).indexOf(colour) + 1})`;

export function typeset(source, displayMode) {
  const options = { output: 'htmlAndMathml', displayMode, macros: { ...macros }, strict: 'error' };
  return katex
    .renderToString(source, options)
    .replace(/<annotation[^>]*>[^]*?<\/annotation>/g, '')
    .replace(/ mathcolor="\w+"/g, '')
    .replace(/color:([a-z]+);/g, (_, colour) => `color:${term(colour)};`);
}

const FONTS = ['Main-Regular', 'Math-Italic', 'Size1-Regular', 'Size2-Regular'];

// The style sheet of KaTeX with these fonts inside.
export function equationStyle() {
  const folder = dirname(createRequire(import.meta.url).resolve('katex/dist/katex.min.css'));
  const data = (name) => readFileSync(join(folder, 'fonts', name)).toString('base64');
  return readFileSync(join(folder, 'katex.min.css'), 'utf8').replace(
    /@font-face\{[^}]*\}/g,
    (face) => {
      const [, name] = /fonts\/KaTeX_([\w-]+)\.woff2/.exec(face);
      if (!FONTS.includes(name)) return '';
      const source = `url(data:font/woff2;base64,${data(`KaTeX_${name}.woff2`)}) format("woff2")`;
      return face.replace(/src:[^;}]*/, `src:${source}`);
    },
  );
}

const literal = /\b(tex|inline)`([^`]*)`/g;

export const equations = {
  name: 'equations',
  setup(build) {
    build.onLoad({ filter: /src\/guide\/[^/]+\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(literal, (_, kind, source) =>
        JSON.stringify(typeset(source, kind === 'tex')),
      ),
      loader: 'js',
    }));
  },
};
