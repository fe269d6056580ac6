// Typesets formulas by KaTeX:  node formulas.mjs FOLDER <formulas.json >typeset.json
// FOLDER has node_modules/katex. Each formula is {tex, display}; its answer {html} or {error}.
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { readFileSync } from 'node:fs';

const katex = createRequire(join(resolve(process.argv[2]), 'package.json'))('katex');
const formulas = JSON.parse(readFileSync(0, 'utf8'));
const answers = formulas.map(({ tex, display }) => {
  try {
    return { html: katex.renderToString(tex, { displayMode: display, strict: 'error' }) };
  } catch (e) {
    return { error: e.message };
  }
});
process.stdout.write(JSON.stringify(answers));
