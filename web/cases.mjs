// The cases of a test program, told as cmocka tells them, so that the closing summary counts them.
const cases = [];
export const test = (name, run) => cases.push({ name, run });
export const check = (condition, sentence) => {
  if (!condition) throw new Error(sentence);
};

// Runs the cases whose name has one of the `names` in it, or all but those that have a "-name".
// `before` and `after` go round each; what `after` throws fails the case. Ends the program.
export async function runCases(names, { before, after, end } = {}) {
  const only = names.filter((n) => n[0] !== '-');
  const without = names.filter((n) => n[0] === '-').map((n) => n.slice(1));
  const has = (name, list) => list.some((part) => name.includes(part));
  let failed = 0;
  for (const { name, run } of cases) {
    if ((only.length && !has(name, only)) || has(name, without)) continue;
    const begin = performance.now();
    console.log(`[ RUN      ] ${name}`);
    try {
      await before?.();
      await run();
      await after?.();
      console.log(`[       OK ] ${name} ${((performance.now() - begin) / 1000).toFixed(1)} s`);
    } catch (e) {
      failed++;
      console.log(`${e.message}\n[  FAILED  ] ${name}`);
    }
  }
  await end?.();
  process.exit(failed ? 1 : 0);
}
