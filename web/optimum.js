// The design that keeps most information about counts at a level, and its proof, for a few categories. All is computed
// on the page, mostly in floating point; the verified core then judges the proof, and only its verdict is believed.
"use strict";

const MOST_SOLVED = 10;
// The slack of the prices, in nats: so much the bound is above the value, and so much is left to rounding.
const SLACK = 1e-10;
const UNIT = 1n << 160n;  // the unit D of proof files

// The best columns have the entries 1 and g, up to a factor (Kairouz, Oh and Viswanath 2016), so that the design is a
// linear programme over the 2^k of them: the simplex method, in which every column is looked at in each step.
// Gives {sets, weights, prices}: column j is g on the inputs of the bits of sets[j] and 1 elsewhere, times weights[j].
function bestColumns(shares, g) {
  const k = shares.length, all = 1 << k, gain = new Float64Array(all);
  const entry = (set, x) => (set >> x & 1 ? g : 1);
  for (let set = 0; set < all; set++) {
    let high = 0;
    for (let x = 0; x < k; x++) if (set >> x & 1) high += shares[x];
    const mean = 1 + (g - 1) * high;
    gain[set] = g * high * Math.log(g) - mean * Math.log(mean);
  }
  // k-ary randomised response is the first basis; the inverse of its matrix is (1 - 1 1' / (g + k - 1)) / (g - 1).
  const sets = Array.from({ length: k }, (_, x) => 1 << x), prices = new Float64Array(k), unused = new Float64Array(all);
  const inverse = sets.map((_, i) => Float64Array.from(sets, (_, x) => (Number(i === x) - 1 / (g + k - 1)) / (g - 1)));
  const weights = inverse.map((row) => row.reduce((sum, n) => sum + n, 0));
  for (let step = 0; step < 5000; step++) {
    for (let x = 0; x < k; x++) prices[x] = sets.reduce((sum, set, i) => sum + gain[set] * inverse[i][x], 0);
    let best = -1, most = 1e-13;
    for (let set = 0; set < all; set++) {
      let paid = gain[set];
      for (let x = 0; x < k; x++) paid -= prices[x] * entry(set, x);
      unused[set] = paid;
      // After many steps the first column that gains is taken, which cannot go round in circles.
      if (paid > most) { best = set; if (step > 500) break; most = paid; }
    }
    if (best < 0) return { sets, weights, prices: [...prices] };
    const direction = inverse.map((row) => row.reduce((sum, n, x) => sum + n * entry(best, x), 0));
    let out = -1;
    for (let i = 0; i < k; i++) {
      if (direction[i] <= 1e-11) continue;
      const left = out < 0 ? 1 : weights[i] * direction[out] - weights[out] * direction[i];
      if (out < 0 || left < 0 || (left === 0 && sets[i] < sets[out])) out = i;
    }
    if (out < 0) return null;
    const pivot = inverse[out].map((n) => n / direction[out]);
    inverse.forEach((row, i) => { if (i !== out) row.forEach((n, x) => { row[x] = n - direction[i] * pivot[x]; }); });
    inverse[out] = pivot;
    sets[out] = best;
    for (let i = 0; i < k; i++) weights[i] = Math.max(inverse[i].reduce((sum, n) => sum + n, 0), 0);
  }
  return null;
}

// The exact weights of the columns with entries a and b, b < a, so that each row sums to 1: {numbers, divisor}, by
// elimination without fractions (Bareiss). Null where a weight is negative, or the columns depend on each other.
function exactWeights(sets, a, b) {
  const k = sets.length, rows = sets.map((_, x) => [...sets.map((set) => (set >> x & 1 ? a : b)), 1n]);
  let before = 1n;
  for (let i = 0; i < k; i++) {
    const at = rows.findIndex((row, x) => x >= i && row[i] !== 0n);
    if (at < 0) return null;
    [rows[i], rows[at]] = [rows[at], rows[i]];
    rows.forEach((row, x) => {
      if (x === i) return;
      const factor = row[i];
      rows[x] = row.map((n, y) => (rows[i][i] * n - factor * rows[i][y]) / before);
    });
    before = rows[i][i];
  }
  const sign = before < 0n ? -1n : 1n, numbers = rows.map((row) => sign * row[k]);
  return numbers.every((n) => n >= 0n) ? { numbers, divisor: sign * before } : null;
}

// Branches of the corners {1, g}^k, and the points of the leaves; a leaf holds where for its point t
// t + sum over inputs of max over v of p v log v - (1 + log t) p v - price v <= 0. Null where it is not found.
function cornerTree(shares, g, prices) {
  const k = shares.length, lines = [], log = Math.log(g);
  const visit = (fixed, high) => {
    // What the leaf is worth at point t, and the input that is nearest to a change of its mind.
    const worth = (t) => {
      const slope = 1 + Math.log(t);
      let sum = t, mean = 0, next = -1, near = Infinity;
      for (let x = 0; x < k; x++) {
        const low = -slope * shares[x] - prices[x], top = g * (shares[x] * (log - slope) - prices[x]);
        const up = fixed >> x & 1 ? high >> x & 1 : top > low;
        sum += up ? top : low;
        mean += shares[x] * (up ? g : 1);
        if (!(fixed >> x & 1) && Math.abs(top - low) < near) [near, next] = [Math.abs(top - low), x];
      }
      return { sum, mean, next };
    };
    // The worth is convex in t, and its slope has the sign of t - mean.
    let [from, to] = [1, g];
    for (let i = 0; i < 60; i++) {
      const t = (from + to) / 2;
      if (worth(t).mean > t) from = t; else to = t;
    }
    const point = [from, to].reduce((one, t) => (worth(t).sum < worth(one).sum ? t : one)), found = worth(point);
    if (found.sum <= -SLACK / 100 || (found.next < 0 && found.sum <= 0)) { lines.push(`l ${scaled(point)}`); return true; }
    if (found.next < 0 || lines.length > 4 << k) return false;
    lines.push(`x ${found.next}`);
    const bit = 1 << found.next;
    return visit(fixed | bit, high | bit) && visit(fixed | bit, high);
  };
  return visit(0, 0) ? lines : null;
}

// x D, to the precision of x.
function scaled(x) { return BigInt(Math.round(x * 2 ** 50)) * (UNIT >> 50n); }

function commonDivisorOf(numbers) { return numbers.reduce(commonDivisor, 0n); }

// The most informative design for counts at the level n / d: {mechanism, value, bound, proof, certificate}, with the
// value and bound as fractions [n, d], not judged yet; null where the page finds none.
function optimalDesign(names, counts, [n, d]) {
  const divisor = commonDivisorOf(counts), weights = counts.map((w) => w / divisor), shares = sharesOf(weights.map(String));
  const g = Math.exp(n / d), found = bestColumns(shares, g);
  if (!found) return null;
  // The entries have the ratio a / b, just below exp(n / d); columns of weight zero are left out.
  const b = 1n << 48n, a = BigInt(Math.floor(g * (1 - 1e-14) * 2 ** 48)), exact = exactWeights(found.sets, a, b);
  if (!exact) return null;
  const unit = commonDivisorOf([...exact.numbers.map((w) => w * b), ...exact.numbers.map((w) => w * a), exact.divisor]);
  const below = exact.divisor / unit, chosen = found.sets.map((set, j) => ({ set, w: exact.numbers[j] })).filter(({ w }) => w > 0n);
  const columns = chosen.map(({ set, w }) => names.map((_, x) => (w * (set >> x & 1 ? a : b)) / unit));
  let stem = "output";
  const known = new Set(names.map((name) => name.trim().toLowerCase()));
  while (columns.some((_, y) => known.has(`${stem} ${y + 1}`))) stem = `released ${stem}`;
  const outputs = columns.map((_, y) => `${stem} ${y + 1}`);
  const mechanism = { inputs: names, outputs, rows: names.map((_, x) => columns.map((column) => column[x])), denominators: names.map(() => below) };
  const prices = found.prices.map((price, x) => price + SLACK * shares[x]), tree = cornerTree(shares, g, prices);
  if (!tree) return null;
  const scale = 1n << 80n, paid = prices.map((price) => BigInt(Math.ceil(price * 2 ** 53)) * (scale >> 53n));
  // What is claimed of the value is below what the floats say.
  const value = [BigInt(Math.floor((information(mechanism, shares) - 1e-13) * 2 ** 60)), 1n << 60n];
  const bound = [paid.reduce((sum, price) => sum + price, 0n), scale];
  const lines = [`unit ${scale}`, `prices ${paid.join(" ")}`, "mults", "mode corner",
    `ratios ${BigInt(Math.ceil(g * (1 + 1e-14) * 2 ** 48)) * (UNIT >> 48n)} ${UNIT}`, ...tree];
  const problem = ["sense maximize", `weights ${weights.join(" ")}`, "utility information", `cone complete e ${n} ${d}`, "outputs free"];
  const text = (fraction) => { const c = commonDivisor(...fraction); return fraction.map((one) => String(one / (c < 0n ? -c : c))); };
  const proof = ["rropt-core", `problem ${sha256(problem.map((line) => `${line}\n`).join(""))}`, ...problem, `claim bound ${text(bound).join(" ")}`,
    `value ${text(value).join(" ")} ${below}`, `lows ${a} ${b}`, ...columns.map((column) => `column ${column.join(" ")}`), ...lines, "end"];
  const written = { denominators: [String(below)], outputs, columns: columns.map((column) => ({ dense: column.map(String) })) };
  const over = (fraction) => text(fraction).join("/").replace(/\/1$/, "");
  const certificate = {
    format: "rropt-certificate",
    problem: { sense: "maximize", inputs: names, outputs: null, weights: weights.map(String), utility: { kind: "mutual_information" },
      cone: { kind: "complete", epsilon: over([BigInt(n), BigInt(d)]) }, rows: [] },
    mechanism: written, value: { lower: over(value), upper: over(bound) }, bound: over(bound), proof: { kind: "lines", lines }, assumptions: [],
  };
  return {
    mechanism, value, bound, proof: `${proof.join("\n")}\n`, certificate: `${JSON.stringify(certificate)}\n`,
    text: `${JSON.stringify({ format: "rropt-mechanism", inputs: names, ...written }, null, 1)}\n`,
  };
}

// What the estimates of the shares cost with a square design: [largest variance of a share, sum of the squared errors],
// of one answer. The estimate without bias is unique. [null, null] where there is none.
function errorsOf(mechanism, shares) {
  const k = shares.length, none = [null, null];
  if (mechanism.outputs.length !== k) return none;
  const q = shares.map((_, x) => mechanism.outputs.map((_, y) => probability(mechanism, x, y)));
  const rows = q.map((row, x) => [...row, ...shares.map((_, z) => Number(x === z))]);
  for (let i = 0; i < k; i++) {
    let at = i;
    for (let x = i; x < k; x++) if (Math.abs(rows[x][i]) > Math.abs(rows[at][i])) at = x;
    if (Math.abs(rows[at][i]) < 1e-9) return none;
    [rows[i], rows[at]] = [rows[at], rows[i]];
    rows[i] = rows[i].map((n) => n / rows[i][i]);
    rows.forEach((row, x) => { if (x !== i) rows[x] = row.map((n, y) => n - row[i] * rows[i][y]); });
  }
  const estimate = rows.map((row) => row.slice(k));
  let largest = 0, sum = 0;
  for (let x = 0; x < k; x++) {
    const squares = q.map((row) => row.reduce((total, share, y) => total + share * estimate[y][x] ** 2, 0));
    const others = Math.max(...squares.filter((_, z) => z !== x));
    // At the frequency f of x, where the others are all of the kind that varies most: f s + (1 - f) others - f^2.
    const f = Math.min(Math.max((squares[x] - others) / 2, 0), 1);
    largest = Math.max(largest, f * squares[x] + (1 - f) * others - f * f);
    sum += squares.reduce((total, square, z) => total + shares[z] * square, 0) - shares[x] ** 2;
  }
  return [largest, sum];
}
