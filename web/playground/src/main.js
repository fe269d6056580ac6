// The page: its two views (the guide and the playground), tabs, theme, link, keys, and the clock of
// the pictures.
import { createEngine } from 'brio-engine';
import { Bench } from './bench.js';
import { element } from './controls.js';
import { Guide } from './guide/guide.js';
import { chapters } from './guide/list.js';
import { tintPage } from './colours.js';
import { DropZone, OwnError, openFiles } from './own.js';
import { Phase } from './phase.js';
import { scenes } from './scenes.js';
import { Stability } from './stability.js';
import { stableLimit } from 'stable-limits';

const bench = (options) => (...place) => {
  const [holder, engine, q, changed] = place;
  return new Bench(holder, engine, options, q, changed);
};
const own = bench({ mode: 'one', choices: ['own'], choose: (files) => take(files) });
const tabs = {
  cloth: { title: 'Cloth', make: bench({ mode: 'one', choices: ['cloth'] }) },
  soft: {
    title: 'Soft bodies',
    make: bench({ mode: 'one', choices: ['bunny', 'cube', 'bar', 'balls', 'dice'] }),
  },
  dial: {
    title: 'Energy dial',
    make: bench({
      mode: 'dial', choices: ['cube', 'bar', 'balls'],
      intro: 'Set the energy; a-search steers the motion there, at this step.',
    }),
  },
  phase: { title: 'Phase plane', make: (...a) => new Phase(...a) },
  stability: { title: 'Stability', make: (...a) => new Stability(...a) },
  two: {
    title: 'Side by side',
    make: bench({ mode: 'two', choices: ['cube', 'cloth', 'bar', 'balls'] }),
  },
  own: {
    title: 'Your own',
    make: (...a) => (scenes.own && !refused ? own(...a) : new DropZone(a[0], refused, take, a[2])),
  },
};

// Files that were dropped or chosen, and why the last ones were rejected.
let refused = '';
async function take(files) {
  if (!files.length || !brio.engine) return;
  document.body.dataset.busy = 'Reading …';
  await new Promise((done) => setTimeout(done, 30)); // so that it is seen
  refused = '';
  try {
    await openFiles(brio.engine, files);
  } catch (e) {
    if (!(e instanceof OwnError)) throw e;
    refused = e.message;
  } finally {
    delete document.body.dataset.busy;
  }
  open(new URLSearchParams({ tab: 'own', ...(params().get('play') === '0' ? { play: '0' } : {}) }));
}

async function engineOfPage() {
  const text = atob(document.getElementById('engine').textContent.trim());
  const packed = new Uint8Array(text.length); // Uint8Array.from(text, ...) takes ten times as long
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  const wasm = new Uint8Array(await new Response(stream).arrayBuffer());
  return createEngine({ threads: 1, wasm });
}

// The engine with threads lies next to a page that is served with the headers for shared memory;
// `?threads=N` in the address asks for N.
const MOST_THREADS = 8;
async function engineBeside() {
  const asked = parseInt(new URLSearchParams(location.search).get('threads'), 10);
  const threads = Math.min(MOST_THREADS, asked > 0 ? asked : navigator.hardwareConcurrency || 1);
  if (!window.crossOriginIsolated || threads < 2) throw new Error('one thread');
  const beside = (name) => name.replace('threads/engine-threads', 'playground-threads');
  const locate = (name) => new URL(beside(name), document.baseURI).href;
  return createEngine({ threads, locate });
}

const root = document.getElementById('tab'), bar = document.getElementById('tabs');
const views = {
  chapter: {
    title: 'Learn', label: 'Chapters',
    tabs: Object.fromEntries(chapters.map(({ id, tab }, i) =>
      [id, { title: tab, number: i + 1, make: (...a) => new Guide(...a) }])),
  },
  tab: { title: 'Play', label: 'What to look at', tabs },
};
let current = null, view = '', linked = '';
const places = { chapter: chapters[0].id, tab: 'cloth' }; // where each view was left

function params() {
  return new URLSearchParams(location.hash.slice(1));
}

// The link always says what is shown.
function write() {
  const q = new URLSearchParams([[view, places[view]], ...(current?.params() || [])]);
  linked = `#${q}`;
  history.replaceState(null, '', linked);
}

// The tabs of the view, and which one is open.
function showTabs(fresh) {
  const { label, tabs: list } = views[view];
  if (fresh) {
    bar.setAttribute('aria-label', label);
    const tab = ([name, { title, number }]) => element('button', {
      type: 'button', role: 'tab', id: `${view}-${name}`, 'data-tab': name, 'aria-controls': 'tab',
      onclick: () => open(new URLSearchParams({ [view]: name })),
    }, ...(number ? [element('span', { class: 'number', text: `${number} ` })] : []), title);
    bar.replaceChildren(...Object.entries(list).map(tab));
  }
  for (const b of bar.children) {
    const chosen = b.dataset.tab === places[view];
    b.setAttribute('aria-selected', String(chosen));
    b.tabIndex = chosen ? 0 : -1;
    if (chosen) bar.scrollLeft = b.offsetLeft - bar.offsetLeft - 60; // on a phone not all fit
  }
  for (const b of viewSwitch.children)
    b.setAttribute('aria-pressed', String(b.dataset.view === view));
}

function open(q) {
  const before = view;
  view = Object.hasOwn(tabs, q.get('tab')) ? 'tab' : 'chapter';
  if (Object.hasOwn(views[view].tabs, q.get(view))) places[view] = q.get(view);
  showTabs(view !== before);
  const place = places[view];
  root.setAttribute('aria-labelledby', `${view}-${place}`);
  current?.dispose();
  current = null;
  root.className = view === 'tab' ? `tab ${place}` : 'guide';
  root.scrollTop = 0;
  try {
    current = views[view].tabs[place].make(root, brio.engine, q, (other) => {
      if (other) open(new URLSearchParams([[view, place], ...other]));
      else if (current) write();
    });
  } catch (e) {
    if (hasWebGL()) throw e;
    root.replaceChildren(element('p', { class: 'wait', role: 'alert', text: NO_WEBGL }));
  }
  write();
  current?.resize();
}

const NO_WEBGL = 'This browser offers no WebGL, which the picture here needs: switch on its ' +
  'graphics acceleration. The chapters 1 to 4, Phase plane and Stability do without.';
function hasWebGL() {
  const gl = document.createElement('canvas').getContext('webgl2');
  gl?.getExtension('WEBGL_lose_context')?.loseContext();
  return !!gl;
}

const viewSwitch = document.getElementById('views');
for (const [name, { title }] of Object.entries(views))
  viewSwitch.append(element('button', {
    type: 'button', 'data-view': name, text: title,
    onclick: () => open(new URLSearchParams({ [name]: places[name] })),
  }));

const night = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => document.documentElement.dataset.theme === 'dark';
function theme(choice) {
  if (choice) document.documentElement.dataset.theme = choice;
  const dark = document.documentElement.dataset.theme ? isDark() : night.matches;
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  themeButton.setAttribute('aria-pressed', String(dark));
  themeButton.textContent = dark ? 'Light' : 'Dark';
  if (brio.engine) tintPage(brio.engine.methods.map((m) => m.name));
  current?.retint();
}

const themeButton = document.getElementById('theme');
themeButton.addEventListener('click', () => theme(isDark() ? 'light' : 'dark'));
night.addEventListener('change', (e) => theme(e.matches ? 'dark' : 'light'));

const shareButton = document.getElementById('share');
shareButton.addEventListener('click', async () => {
  write();
  try {
    await navigator.clipboard.writeText(location.href);
    shareButton.textContent = 'Copied';
  } catch {
    shareButton.textContent = 'In the address bar';
  }
  setTimeout(() => (shareButton.textContent = 'Copy link'), 1500);
});

bar.addEventListener('keydown', (e) => {
  const turn = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
  if (!turn) return;
  const list = [...bar.children], at = list.indexOf(document.activeElement);
  const next = list[(at + turn + list.length) % list.length];
  next.focus();
  next.click();
});
const CONTROLS = /^(INPUT|SELECT|TEXTAREA|BUTTON|SUMMARY)$/;
addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || CONTROLS.test(e.target.tagName)) return;
  if (current?.key(e)) e.preventDefault();
});
addEventListener('dragover', (e) => {
  e.preventDefault();
  document.body.dataset.busy = 'Drop a scene or a mesh';
});
addEventListener('dragleave', (e) => e.relatedTarget || delete document.body.dataset.busy);
addEventListener('drop', (e) => {
  e.preventDefault();
  delete document.body.dataset.busy;
  take([...e.dataTransfer.files]);
});
addEventListener('hashchange', () => location.hash !== linked && open(params()));
new ResizeObserver(() => current?.resize()).observe(root);

let last = 0;
function tick(now) {
  const dt = Math.min(0.1, (now - last) / 1000); // a hidden page does not catch up
  last = now;
  requestAnimationFrame(tick); // first: an error in a picture must not end all of them
  current?.frame(dt);
}

const brio = (window.brio = {
  get bench() {
    return current;
  },
  open: (text) => open(new URLSearchParams(text)),
  stableLimit,
});
theme();
engineBeside().catch(engineOfPage).then((engine) => {
  brio.engine = engine;
  tintPage(engine.methods.map((m) => m.name));
  const count = engine.threads > 1 ? `${engine.threads} threads` : '1 thread';
  document.getElementById('threads').textContent = count;
  open(params());
  requestAnimationFrame(tick);
  document.documentElement.dataset.ready = Math.round(performance.now());
}).catch((e) => {
  root.textContent = `The page could not be started: ${e.message}. ` +
    'It needs a browser of 2023 or later with WebAssembly SIMD and WebGL.';
  throw e;
});
