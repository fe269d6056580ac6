// Chromium, and frames of the page of `brio live`.
export { launch } from '../browser.mjs';

// Waits for so many frames.
export const frames = (page, count) =>
  page.evaluate(async (wanted) => {
    const until = window.brioLive.count + wanted,
      start = performance.now();
    while (window.brioLive.count < until && performance.now() - start < 20000)
      await new Promise((done) => setTimeout(done, 20));
    return window.brioLive.count >= until;
  }, count);
