// The menu of small screens, and the search. It works from a disk: the index is a script that is
// loaded when the search is first used (search-index.js: pages [address, title, sections], sections
// [anchor, heading, text]).
'use strict';

const fold = (text) => text.toLowerCase().normalize('NFC');
const letters = /[\p{L}\p{N}_]/u;

// How well a word fits a text: 4 a whole word, 3 the start of one, 1 inside of one, 0 not at all.
function fit(text, word) {
  let best = 0;
  for (let at = text.indexOf(word); at >= 0 && best < 4; at = text.indexOf(word, at + 1)) {
    const before = at > 0 && letters.test(text[at - 1]),
      after = at + word.length < text.length && letters.test(text[at + word.length]);
    best = Math.max(best, before ? 1 : after ? 3 : 4);
  }
  return best;
}

// Sections in which all words occur, best first: {page, title, anchor, heading, text, score}. The
// page of claims has most words of the field often: it comes after what explains them.
function find(index, query, limit = 12) {
  const words = fold(query).split(/\s+/).filter(Boolean);
  const found = [];
  if (!words.length) return found;
  for (const [page, title, sections] of index) {
    const name = fold(title);
    for (const [anchor, heading, text] of sections) {
      const head = fold(heading),
        body = fold(text);
      let score = 0;
      for (const word of words) {
        const inHead = fit(head, word),
          inName = fit(name, word),
          inBody = fit(body, word);
        if (!inHead && !inBody && !inName) {
          score = 0;
          break;
        }
        const often = inBody ? Math.min(body.split(word).length - 1, 8) : 0;
        score += 12 * inHead + 5 * inName + 4 * inBody + often;
      }
      if (page === 'reproduction.html') score /= 2;
      if (score) found.push({ page, title, anchor, heading, text, score });
    }
  }
  found.sort((a, b) => b.score - a.score);
  const seen = {}; // of one page at most three
  return found.filter(({ page }) => (seen[page] = (seen[page] ?? 0) + 1) <= 3).slice(0, limit);
}

// The piece of a text around the first of the words.
function excerpt(text, query) {
  const words = fold(query).split(/\s+/).filter(Boolean),
    body = fold(text);
  const places = words.map((word) => body.indexOf(word)).filter((at) => at >= 0);
  let from = places.length ? Math.max(0, Math.min(...places) - 50) : 0;
  if (from) from = text.indexOf(' ', from) + 1;
  const end = text.length > from + 150 ? ' …' : '';
  return (from ? '… ' : '') + text.slice(from, from + 150) + end;
}

if (typeof document !== 'undefined') {
  const base = document.body.dataset.base,
    input = document.getElementById('search'),
    list = document.getElementById('found'),
    menu = document.querySelector('.menu'),
    side = document.getElementById('menu');
  let chosen = -1;

  menu.addEventListener('click', () => {
    menu.setAttribute('aria-expanded', String(side.classList.toggle('open')));
  });
  const current = side.querySelector('[aria-current]');
  if (current && current.offsetTop > side.clientHeight - 80)
    side.scrollTop = current.offsetTop - 200;

  function load() {
    if (load.begun) return;
    load.begun = true;
    const script = document.createElement('script');
    script.src = base + '/search-index.js';
    script.onload = show;
    document.head.append(script);
  }

  // The words of the query, marked.
  function marked(text, query) {
    const piece = document.createElement('small'),
      words = fold(query).split(/\s+/).filter(Boolean);
    words.sort((a, b) => b.length - a.length);
    const quoted = words.map((word) => word.replace(/[^\p{L}\p{N}\s]/gu, '\\$&'));
    for (const [i, part] of text.split(new RegExp('(' + quoted.join('|') + ')', 'iu')).entries()) {
      const node = document.createElement(i % 2 ? 'mark' : 'span');
      node.textContent = part;
      piece.append(node);
    }
    return piece;
  }

  function show() {
    list.replaceChildren();
    chosen = -1;
    const query = input.value.trim(),
      open = query !== '' && typeof brioIndex !== 'undefined';
    list.hidden = !open;
    input.setAttribute('aria-expanded', String(open));
    if (!open) return;
    for (const hit of find(brioIndex, query)) {
      const item = document.createElement('li'),
        link = document.createElement('a'),
        name = document.createElement('b');
      item.setAttribute('role', 'option');
      item.setAttribute('aria-selected', 'false');
      link.href = base + '/' + hit.page + (hit.anchor ? '#' + hit.anchor : '');
      name.textContent = hit.heading || hit.title;
      if (hit.heading && hit.heading !== hit.title) {
        const where = document.createElement('span');
        where.textContent = ' · ' + hit.title;
        name.append(where);
      }
      link.append(name, marked(excerpt(hit.text, query), query));
      item.append(link);
      list.append(item);
    }
    if (!list.children.length) {
      const none = document.createElement('li');
      none.className = 'none';
      none.textContent = 'Nothing found. Try fewer words, or the beginning of one.';
      list.append(none);
    }
  }

  function choose(by) {
    const items = [...list.querySelectorAll('[role=option]')];
    if (!items.length) return;
    chosen = (chosen + by + items.length) % items.length;
    for (const [i, item] of items.entries())
      item.setAttribute('aria-selected', String(i === chosen));
    items[chosen].scrollIntoView({ block: 'nearest' });
  }

  input.addEventListener('focus', load);
  input.addEventListener('input', () => (load(), show()));
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') choose(1);
    else if (event.key === 'ArrowUp') choose(-1);
    else if (event.key === 'Enter')
      (list.querySelector('[aria-selected=true] a') ?? list.querySelector('a'))?.click();
    else if (event.key === 'Escape') ((input.value = ''), show());
    else return;
    event.preventDefault();
  });
  list.addEventListener('click', (event) => {
    if (event.target.closest('a'))
      ((list.hidden = true), input.setAttribute('aria-expanded', 'false'));
  });
  document.addEventListener('click', (event) => {
    if (!event.target.closest('.search')) list.hidden = true;
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    event.preventDefault();
    input.focus();
  });
}
