// What a proof says in words, and what it rests on, from the lines of a proof file.
"use strict";

// As a goal that is made large, and one that is made small.
const WORTH = {
  linear: ["expected gain", "expected loss"], bayes: ["expected gain of the best guess", "expected gain of the best guess"],
  information: ["mutual information in nats", "mutual information in nats"], given: ["conditional information in nats", "conditional information in nats"],
  "chi-square": ["chi-square information", "chi-square information"], entropy: ["entropy of the reports in nats", "entropy of the reports in nats"],
  capacity: ["capacity in nats", "capacity in nats"], "inverse-trace": ["", "sum of the variances of the estimates"],
  "inverse-eigenvalue": ["", "largest variance of an estimate"], "inverse-determinant": ["", "log-determinant of the covariance of the estimates"],
};
const CONDITIONS = [["halfspace", "linear conditions on each report"], ["row", "linear conditions on the matrix"], ["floor", "lower limits of entropy"],
  ["limit", "limits of what is revealed"], ["capacity", "limits of capacity"], ["excess", "approximate privacy"], ["renyi", "limits of Rényi divergence"],
  ["concentrated", "limits of concentrated divergence"], ["confidence", "robust privacy over a confidence set"], ["part", "further parts of the sum"]];

function linesOf(text, key) { return text.split("\n").filter((line) => line.startsWith(`${key} `)).map((line) => line.slice(key.length + 1)); }

function ratioText(kind, a, b) {
  const number = b === "1" ? a : `${a}/${b}`;
  return kind === "e" ? `exp(${number})` : number;
}

// The statement of a problem in lines: that no mechanism exists, or that none does better, with or without one.
function statementOf(problem, infeasible, hasMechanism) {
  const low = linesOf(problem, "sense")[0] === "minimize", k = linesOf(problem, "weights")[0].split(" ").length;
  const [head, second] = linesOf(problem, "utility")[0].split(" "), kind = head === "less" ? second : head;
  const [shape, ...ratio] = linesOf(problem, "cone")[0].split(" ");
  const conditions = [];
  if (shape === "complete") conditions.push(`any two true answers give a report with likelihoods within the factor ${ratioText(...ratio)}`);
  if (shape === "graph") conditions.push(`the likelihoods of a report keep the factors of ${linesOf(problem, "edge").length} ordered pairs of true answers`);
  if (shape === "robust") conditions.push(`the likelihoods of a report, averaged over any two of ${linesOf(problem, "block").length} groups, are within the factor ${ratioText(...ratio)}`);
  for (const [key, what] of CONDITIONS) {
    const count = linesOf(problem, key).length;
    if (count) conditions.push(`${what} (${count})`);
  }
  const where = `designs for ${k} true answers` + (conditions.length ? ` in which ${conditions.join("; ")}` : "");
  if (infeasible) return `There are no ${where}.`;
  return `Among all ${where}, none has a ${low ? "smaller" : "larger"} ${WORTH[kind][Number(low)]} than the proved bound. ` +
    (hasMechanism ? "The design of the file is one of them and has the value." : "The file has no design.");
}

// What stands in a proof file, with the theorem in Coq that says that it is sound (docs/theorems.md). The last theorem
// of a mode covers the rest of the file too.
const MODES = {
  dual: ["one linear test for each report", "proves_sound"], corner: ["a search over the corners of the privacy cone", "proves_sound"],
  box: ["a search over boxes of likelihoods", "proves_sound"], known: ["no more is learned than there is to know", "proves_sound"],
  sheets: ["a search over boxes of whole matrices", "proves_sound"], labels: ["a search over trees of tight pairs", "charted_sound"],
  matrix: ["a search over corners of matrices whose reports are tied", "cornered_sound"],
  design: ["a search over the corners of each report, for variances", "designed_sound"], blocks: ["a search over corners of groups", "blocks_sound"],
};
const RECORDS = [["minorant", "tangents of what is limited or minimised"], ["sum", "tangents of the parts of a sum"], ["reach", "events of approximate privacy"],
  ["tangents", "tangents of divergences"], ["cuts", "half-spaces around a confidence set"], ["lift", "a limit as an input of its own"],
  ["around", "weights for a capacity"], ["points", "tangents of entropy"]];

// The rules of an accepted proof file: [what, status] each.
function rulesOf(text) {
  const rest = text.slice(text.indexOf("\nclaim ") + 1), found = [], head = rest.slice(0, rest.search(/\nratios |$/));
  const infeasible = rest.startsWith("claim infeasible"), [mode] = linesOf(head, "mode");
  const [what, theorem] = MODES[mode] ?? [`mode ${mode}`, ""];
  const proved = (name) => `proved in Coq (${name})`;
  if (linesOf(head, "value").length) found.push(["the matrix is a design of the problem, and has the value", proved("displays_sound, firm_obeys")]);
  for (const [key, said] of RECORDS) if (head.includes(`\n${key}\n`) || linesOf(head, key).length) found.push([said, proved(infeasible ? "denies_sound" : theorem)]);
  found.push([infeasible ? `${what}: no design passes` : what, proved(infeasible ? "denies_sound" : theorem)]);
  return found;
}

// One digit of the fraction n / d (texts) changed, so that it becomes smaller: {n, d, said}; null where none can be.
function smallerByOneDigit(n, d) {
  const negative = n.startsWith("-"), first = Number(negative);
  const change = (digits, from, raise, accept) => {
    for (let i = from; i < digits.length; i++) {
      const digit = Number(digits[i]) + (raise ? 1 : -1);
      // No digit below 0 or above 9, and no zero in front.
      if (digit < 0 || digit > 9 || (digit === 0 && i === from)) continue;
      const made = digits.slice(0, i) + digit + digits.slice(i + 1);
      if (accept(made)) return { made, said: `digit ${i - from + 1} became ${digit} instead of ${digits[i]}` };
    }
    return null;
  };
  const coprime = (a, b) => [1n, -1n].includes(commonDivisor(BigInt(a), BigInt(b)));
  if (n === "0") return null;
  const above = change(n, first, negative, (made) => coprime(made, d));
  if (above) return { n: above.made, d, said: above.said };
  // A numerator of one digit may leave the denominator only: a larger one makes a positive fraction smaller.
  const below = change(d, 0, !negative, (made) => coprime(n, made));
  return below && { n, d: below.made, said: `${below.said} in the denominator` };
}
