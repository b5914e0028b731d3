// SHA-256 of a text in UTF-8. The browser's own is not there on a page that comes by plain http.
"use strict";

function sha256(text) {
  const given = new TextEncoder().encode(text), blocks = new Uint8Array(((given.length + 72) >> 6) << 6);
  blocks.set(given);
  blocks[given.length] = 0x80;
  const view = new DataView(blocks.buffer), k = [], state = [];
  view.setUint32(blocks.length - 8, Math.floor(given.length / 2 ** 29));
  view.setUint32(blocks.length - 4, given.length << 3);
  // The constants are the first 32 bits of the fractions of roots of the first primes.
  for (let n = 2; k.length < 64; n++) {
    let prime = true;
    for (let d = 2; d * d <= n; d++) if (n % d === 0) prime = false;
    if (!prime) continue;
    if (state.length < 8) state.push((n ** (1 / 2) * 2 ** 32) | 0);
    k.push((n ** (1 / 3) * 2 ** 32) | 0);
  }
  const turn = (x, n) => (x >>> n) | (x << (32 - n)), w = new Int32Array(64);
  for (let at = 0; at < blocks.length; at += 64) {
    for (let i = 0; i < 16; i++) w[i] = view.getInt32(at + 4 * i);
    for (let i = 16; i < 64; i++) {
      const p = w[i - 15], q = w[i - 2];
      w[i] = w[i - 16] + (turn(p, 7) ^ turn(p, 18) ^ (p >>> 3)) + w[i - 7] + (turn(q, 17) ^ turn(q, 19) ^ (q >>> 10));
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i]) | 0;
      const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((n, i) => { state[i] = (state[i] + n) | 0; });
  }
  return state.map((n) => (n >>> 0).toString(16).padStart(8, "0")).join("");
}
