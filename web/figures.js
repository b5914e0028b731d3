// What a design keeps, reveals and allows to estimate, and closed-form designs at the same epsilon.
"use strict";

const NORMAL_95 = 1.959963984540054, MOST_SETS = 50000;

// (1 + u) log(1 + u) - u, which is never negative: a sum of them loses no digits where most of an information cancels.
function divergence(u) { return u > -1 ? (1 + u) * Math.log1p(u) - u : 1; }

// The sum of all shares but that of x: 1 - share, with its digits where the share is nearly 1.
function others(shares, x) { return shares.reduce((sum, p, z) => (z === x ? sum : sum + p), 0); }

function entropy(shares) {
  return shares.reduce((sum, p, x) => sum - (p > 0 ? p * (p > 0.5 ? Math.log1p(-others(shares, x)) : Math.log(p)) : 0), 0);
}

function information(mechanism, shares) {
  const { inputs, outputs } = mechanism;
  let sum = 0;
  outputs.forEach((_, y) => {
    const column = inputs.map((_, x) => probability(mechanism, x, y)), whole = column.reduce((total, q, x) => total + shares[x] * q, 0);
    if (whole > 0) column.forEach((q, x) => { sum += shares[x] * whole * divergence((q - whole) / whole); });
  });
  return sum;
}

// A report says yes or no to each category; it says yes with probability inside for the true one, and outside for others.
// The variance of one answer's estimate is largest where the report is closest to a toss of a coin: outside is at most 1/2.
function largestVariance(inside, outside) {
  const yes = Math.min(0.5, inside);
  return (yes * (1 - yes)) / (inside - outside) ** 2;
}

// k-ary randomised response: the truth with g / (g + k - 1), each other answer with 1 / (g + k - 1).
function randomizedResponse(shares, g) {
  const k = shares.length, low = 1 / (g + k - 1), high = g * low;
  let kept = 0, error = 0;
  shares.forEach((p, x) => {
    const report = low + (high - low) * p, rest = others(shares, x), step = (high - low) / report;
    kept += report * (p * divergence(step * rest) + rest * divergence(-step * p));
    error += (report * (1 - report)) / (high - low) ** 2;
  });
  return { name: "k-RR", kept: kept / entropy(shares), variance: largestVariance(high, low), error };
}

// Subset selection: report a set of t categories; sets with the true one are g times as likely as the others.
function subsetSelection(shares, g) {
  const k = shares.length, worth = (t) => (t * g * g + k - t) / (t * g + k - t) ** 2;
  const middle = Math.floor(k / (1 + g)), sizes = [middle, middle + 1].map((t) => Math.min(Math.max(t, 1), k - 1));
  const t = worth(sizes[1]) > worth(sizes[0]) ? sizes[1] : sizes[0], inside = (t * g) / (t * g + k - t);
  const outside = (inside * (t - 1) + (1 - inside) * t) / (k - 1);
  let sets = 1;
  for (let i = 1; i <= t; i++) sets = (sets * (k - t + i)) / i;
  // A set S is reported with probability low (1 + (g - 1) p(S)); low if it has not the true category, g low if it has.
  const low = k / (t * g + k - t);
  const term = (mass, rest) => {
    const s = 1 + (g - 1) * mass, step = (g - 1) / s;
    return s * (mass * divergence(step * rest) + rest * divergence(-step * mass));
  };
  let mean = null;
  if (shares.every((p) => p === shares[0])) mean = term(t / k, 1 - t / k);
  else if (sets <= MOST_SETS) {
    const add = (from, left, mass, rest) => {
      if (!left) return term(mass, shares.slice(from).reduce((sum, p) => sum + p, rest));
      let sum = 0, passed = rest;
      for (let x = from; x <= k - left; x++) {
        sum += add(x + 1, left - 1, mass + shares[x], passed);
        passed += shares[x];
      }
      return sum;
    };
    mean = add(0, t, 0, 0) / sets;
  }
  const kept = mean === null ? null : (low * mean) / entropy(shares);
  return { name: `subsets of ${t}`, size: t, kept, variance: largestVariance(inside, outside), error: null };
}

// The closed-form designs at the ratio g; with sets of one category subset selection is k-RR.
function closedForms(shares, g) {
  const subsets = subsetSelection(shares, g);
  return [randomizedResponse(shares, g), ...(subsets.size > 1 ? [subsets] : [])];
}

function sharesOf(weights) {
  const numbers = weights.map(Number), total = numbers.reduce((sum, w) => sum + w, 0);
  return numbers.map((w) => w / total);
}

// The figures of a certified design, and of closed forms where its guarantee is plain local differential privacy.
function figures(question, design) {
  const shares = sharesOf(question.weights), mechanism = readMechanism(design.mechanism);
  const level = Number(design.level), g = question.parameter === "gamma" ? level : Math.exp(level);
  const own = {
    name: "this design", kept: information(mechanism, shares) / entropy(shares), error: design.error,
    variance: design.margin === null ? null : (design.margin / NORMAL_95) ** 2,
  };
  return { shares, mechanism, ratio: privacyRatio(mechanism), g, designs: [own, ...(question.plain ? closedForms(shares, g) : [])] };
}

function marginOf(design, answers) {
  const margin = design.variance === null ? null : NORMAL_95 * Math.sqrt(design.variance / answers);
  return margin === null || margin >= 1 ? null : margin;  // a share is within [0, 1]
}
