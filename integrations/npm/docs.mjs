// The API page, made of the types:
//   node docs.mjs           writes docs/javascript.md
//   node docs.mjs --print   prints it
// index.d.ts is read line by line: a comment belongs to the declaration below
// it. Comments that open with a heading (##) begin a section. No parser of TypeScript is needed,
// since the file is ours: one declaration a line, or a block that ends with a brace in the first
// column.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, '..', '..', 'docs', 'javascript.md');
const lines = readFileSync(join(here, 'src', 'index.d.ts'), 'utf8').split('\n');

// A comment from `at` on: its text, and the line after it.
function comment(at) {
  const text = [];
  let end = at;
  while (!lines[end].includes('*/')) end++;
  for (const line of lines.slice(at, end + 1))
    text.push(line.replace(/^\s*\/?\*\*?\/?\s?/, '').replace(/\s*\*\/\s*$/, ''));
  while (text.length && !text[0]) text.shift();
  while (text.length && !text.at(-1)) text.pop();
  return { text, end: end + 1 };
}

// Paragraphs as Markdown; lines that are indented by four are code.
function prose(text) {
  const out = [];
  let code = false;
  for (const line of text) {
    const inside = line.startsWith('    ');
    if (inside && !code) out.push('```js');
    if (!inside && code) out.push('```');
    code = inside;
    out.push(inside ? line.slice(4) : line);
  }
  if (code) out.push('```');
  return out.join('\n').trim();
}

// A declaration without its last semicolon; over several lines as one.
const joined = (list) =>
  list
    .map((l) => l.trim())
    .join(' ')
    .replace(/;$/, '')
    .replace('readonly ', '');
const cell = (text) => text.join(' ').replaceAll('|', '\\|');

// How many brackets a line leaves open.
const depth = (line) => (line.match(/[({[]/g) ?? []).length - (line.match(/[)}\]]/g) ?? []).length;

// Rows of a block: what stands between its braces.
function members(from, to) {
  const rows = [],
    examples = [];
  for (let at = from; at < to;) {
    const trimmed = lines[at].trim();
    if (!trimmed || trimmed.startsWith('[')) {
      at++;
      continue;
    }
    let text = [];
    if (trimmed.startsWith('/**')) ({ text, end: at } = comment(at));
    let end = at;
    let open = depth(lines[end]);
    while (open > 0 || !lines[end].endsWith(';')) open += depth(lines[++end]);
    const declaration = joined(lines.slice(at, end + 1)),
      code = text.findIndex((l) => l.startsWith('    '));
    if (code >= 0) examples.push(prose(text.slice(code)));
    rows.push(
      `| \`${cell([declaration])}\` | ${cell(code >= 0 ? text.slice(0, code) : text).trim()} |`,
    );
    at = end + 1;
  }
  return [rows, examples];
}

function page() {
  const out = [readFileSync(join(here, 'docs-head.md'), 'utf8').trim()];
  for (let at = 0; at < lines.length;) {
    if (!lines[at].startsWith('/**')) {
      at++;
      continue;
    }
    const { text, end } = comment(at),
      first = lines[end],
      heading = /^## /.test(text[0]) ? text.shift() : '';
    if (heading) out.push(heading);
    const name = /^export (?:declare )?(?:interface|class|type|function) (\w+)/.exec(first)[1];
    let close = end;
    if (first.trimEnd().endsWith('{')) while (lines[close] !== '}') close++;
    out.push(`### ${name}`, prose(text));
    if (close > end) {
      const [rows, examples] = members(end + 1, close);
      out.push(['| member | what |', '|---|---|', ...rows].join('\n'), ...examples);
    } else {
      out.push(['```ts', first.replace(/^export /, ''), '```'].join('\n'));
    }
    at = close + 1;
  }
  return out.filter(Boolean).join('\n\n') + '\n';
}

if (process.argv[2] === '--print') process.stdout.write(page());
else writeFileSync(target, page());
