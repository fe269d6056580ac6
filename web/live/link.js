// The connection with the engine: messages as they are described in cli/live/describe.c, orders
// with their answers, and a new connection when one is lost.
const SHAPES = 1,
  FRAME = 2,
  HEAD = 24,
  CURVE = 8,
  AWAY = 1001,
  RETRY = 1000,
  MOST_RETRY = 10000;

export class Link {
  // on: { scene, settings, frame, state }
  constructor(on) {
    this.on = on;
    this.waiting = new Map();
    this.next = 1;
    this.retry = RETRY;
    this.connect();
  }

  connect() {
    const token = new URLSearchParams(location.search).get('token') ?? '';
    this.socket = new WebSocket(`ws://${location.host}/socket?token=${encodeURIComponent(token)}`);
    this.socket.binaryType = 'arraybuffer';
    this.socket.onopen = () => {
      this.retry = RETRY;
      this.on.state('connected');
    };
    this.socket.onmessage = (message) => {
      if (typeof message.data === 'string') this.words(JSON.parse(message.data));
      else this.bytes(message.data);
    };
    this.socket.onclose = (event) => {
      for (const answer of this.waiting.values()) answer({ ok: false, text: '' });
      this.waiting.clear();
      if (event.code === AWAY) return this.on.state('ended');
      this.on.state('lost');
      setTimeout(() => this.connect(), this.retry);
      this.retry = Math.min(MOST_RETRY, 1.5 * this.retry);
    };
  }

  words(message) {
    if (message.type === 'scene') {
      this.scene = message;
      this.shapes = null;
    } else if (message.type === 'settings') {
      this.settings = message;
      if (this.shapes) this.on.settings(message);
    } else if (message.type === 'answer') {
      this.waiting.get(message.id)?.(message);
      this.waiting.delete(message.id);
    }
  }

  bytes(buffer) {
    const [kind, generation, number, hands] = new Uint32Array(buffer, 0, 4);
    if (kind === SHAPES && generation === this.scene?.generation) this.takeShapes(buffer);
    else if (kind === FRAME) this.takeFrame(buffer, generation, number, hands);
  }

  takeShapes(buffer) {
    let at = 16;
    const take = (Type, count) => {
      const array = new Type(buffer, at, count);
      at += array.byteLength;
      return array;
    };
    this.shapes = this.scene.parts.map((part) => ({
      ...part,
      slotVertex: take(Int32Array, part.slots),
      triangle: take(Int32Array, 3 * part.triangles),
      edge: take(Int32Array, 2 * part.edges),
      rest: take(Float32Array, 3 * part.vertices),
    }));
    this.on.scene(this.scene, this.shapes);
    if (this.settings) this.on.settings(this.settings);
  }

  // The positions of a frame are views into its bytes.
  takeFrame(buffer, generation, number, hands) {
    if (!this.shapes || generation !== this.scene.generation) return this.drawn(number);
    const rows = new Uint32Array(buffer, 16, 1)[0],
      names = this.scene.ledger;
    const row = new Float64Array(buffer, HEAD, names.length),
      ledger = {};
    names.forEach((name, k) => (ledger[name] = row[k]));
    let at = HEAD + row.byteLength;
    const held = [],
      curves = [];
    for (let k = 0; k < rows; k++, at += 8 * CURVE)
      curves.push(new Float64Array(buffer, at, CURVE));
    for (let k = 0; k < hands; k++, at += 32) held.push(new Float32Array(buffer, at, 8));
    const positions = this.shapes.map((part) => {
      if (part.still) return part.rest;
      const x = new Float32Array(buffer, at, 3 * part.vertices);
      at += x.byteLength;
      return x;
    });
    this.on.frame({ number, ledger, curves, hands: held, positions });
  }

  // The engine sends the next frame when this one is on the screen.
  drawn(number) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(new Uint32Array([number]));
  }

  // An order without an answer.
  tell(what, order = {}) {
    if (this.socket.readyState !== WebSocket.OPEN) return;
    this.socket.send(JSON.stringify({ do: what, ...order }));
  }

  // An order, and what became of it: { ok, text, ... }.
  ask(what, order = {}) {
    const id = this.next++;
    if (this.socket.readyState !== WebSocket.OPEN)
      return Promise.resolve({ ok: false, text: 'There is no connection with brio.' });
    this.socket.send(JSON.stringify({ do: what, id, ...order }));
    return new Promise((resolve) => this.waiting.set(id, resolve));
  }
}
