// Every scene of the page under every integrator that it offers there: every step is made and every
// value finite, with ten pictures drawn. How many steps the checks need:
// - `steps`: one swing of the cloth, two turns of the cube, the bar unwinds; bodies that fall have
//   landed (after 34 steps, the bunny after 6) and spring back.
// - `few`: for methods that halve the long steps of this scene again and again (a second of
//   computing for each); the body has landed in them.
// - `lands`: after one of the steps something is at the floor, so that contact was at work.
const SLOW = ['average-vector-field', 'relaxation', 'partitioned'];
const scenes = {
  cloth: { hash: 'tab=cloth&n=8', steps: 100, few: 30 },
  cube: { hash: 'tab=soft&scene=cube&n=2', steps: 60 },
  bar: { hash: 'tab=soft&scene=bar&n=8', steps: 100 },
  balls: { hash: 'tab=soft&scene=balls&n=1', steps: 60, lands: true },
  balls_on_springs: {
    hash: 'tab=soft&scene=balls&n=1&contact=penalty', steps: 60, few: 40, lands: true,
  },
  dice: { hash: 'tab=soft&scene=dice&n=1', steps: 60, lands: true },
  bunny: { hash: 'tab=soft&scene=bunny&n=8&contact=penalty', steps: 20, few: 10, lands: true },
};

// In the page: {method: what came of it}.
function runAll({ steps, few, slow, pictures }) {
  const b = window.brio.bench, table = {};
  for (const { name } of b.engine.methods) {
    if (b.offers[name] || ['static', 'runge-kutta'].includes(name)) continue;
    b.start();
    b.setMethod(0, name, {});
    const asked = few && slow.includes(name) ? few : steps, w = b.worlds[0];
    let done = 0, low = Infinity;
    while (done < asked && b.stepNow(1) === 1) {
      done++;
      low = Math.min(low, ...w.positions().filter((_, i) => i % 3 === 1));
      if (done % Math.round(asked / pictures)) continue;
      b.record();
      b.draw();
    }
    const finite = [...w.positions(), ...w.velocities(), w.ledger().total].every(Number.isFinite);
    table[name] = { done, asked, finite, low, exploded: b.exploded, said: b.message.textContent };
  }
  return table;
}

export function sceneTests({ test, check, openStill }) {
  for (const [name, { hash, steps, few, lands }] of Object.entries(scenes))
    test(`${name}_under_every_integrator`, async () => {
      const page = await openStill('#' + hash);
      const result = await page.evaluate(runAll, { steps, few, slow: SLOW, pictures: 10 });
      const names = Object.keys(result);
      const exploded = names.filter((n) => result[n].exploded);
      console.log(`${names.length} integrators, ${steps} steps each; ` +
        `exploded, as the page says: ${exploded.join(', ') || 'none'}`);
      check(names.length >= 10, `only ${names} are offered`);
      for (const n of names) {
        const { done, asked, finite, low, said } = result[n];
        check(finite, `${n}: a value is not finite`);
        check(done === asked, `${n} stopped after ${done} steps: ${said}`);
        check(!lands || low < 0.01, `${n}: the lowest vertex came to ${low} m`);
      }
    });
}
