// How many frames per second arrive and are drawn:  [SECONDS=5] node speed.mjs ADDRESS MODULES
// First by a connection that draws nothing, then by the page.
import { launch } from './browser.mjs';

const [address, modules] = process.argv.slice(2),
  seconds = Number(process.env.SECONDS ?? 5);
const browser = await launch(modules);
const page = await browser.newPage({ viewport: { width: 1366, height: 768 } });
await page.goto(address);
await page.waitForFunction(() => window.brioLive?.count > 3, null, { timeout: 120000 });
const measure = (arrived) =>
  page.evaluate(
    async ([s, bare]) => {
      const live = window.brioLive,
        pause = (ms) => new Promise((done) => setTimeout(done, ms));
      let count = 0,
        bytes = 0,
        socket;
      if (bare) {
        live.draw = () => {}; // the page itself draws nothing meanwhile
        socket = new WebSocket(live.link.socket.url);
        socket.binaryType = 'arraybuffer';
        socket.onmessage = ({ data }) => {
          if (typeof data === 'string' || new Uint32Array(data, 0, 1)[0] !== 2) return;
          count++;
          bytes += data.byteLength;
          socket.send(new Uint32Array(data, 8, 1));
        };
        await pause(500);
      }
      let least = Infinity; // ms of a picture, without what the graphics processor does
      const show = live.view.showFrame;
      live.view.showFrame = function (frame) {
        const begin = performance.now();
        show.call(this, frame);
        least = Math.min(least, performance.now() - begin);
      };
      const first = live.frame.ledger.step;
      const from = bare ? count : live.count,
        start = performance.now();
      await pause(1000 * s);
      const fps = ((bare ? count : live.count) - from) / ((performance.now() - start) / 1000);
      socket?.close();
      const { pace, step_seconds: step } = live.frame.ledger;
      live.view.showFrame = show;
      return {
        fps,
        least,
        kB: bytes / count / 1000,
        pace,
        step: 1000 * step,
        vertices: live.scene.vertices,
        steps: live.frame.ledger.step - first,
      };
    },
    [seconds, arrived],
  );
const drawn = await measure(false),
  arrived = await measure(true);
const number = (value, digits = 1) => value.toFixed(digits);
console.log(`${drawn.vertices} vertices, ${number(arrived.kB, 0)} kB per frame`);
console.log(`  ${number(arrived.fps)} frames/s arrive where nothing is drawn`);
console.log(`  ${number(drawn.fps)} frames/s are drawn, ${number(drawn.least)} ms of script`);
console.log(`  ${number(drawn.step)} ms per step, ${number(drawn.pace, 2)} x real time`);
await browser.close();
