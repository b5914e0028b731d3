// The page Check: a proof file is judged by the verified core, and its statement is put into words.
"use strict";

const WORTH = {
  linear: ["expected gain", "expected loss"], bayes: ["expected gain of the best guess", "expected gain of the best guess"],
  information: ["mutual information in nats", "mutual information in nats"], given: ["conditional information in nats", "conditional information in nats"],
  "chi-square": ["chi-square information", "chi-square information"], entropy: ["entropy of the reports in nats", "entropy of the reports in nats"],
  capacity: ["capacity in nats", "capacity in nats"],
};
const VERDICTS = { 0: "Proved", 1: "Refuted", 2: "Unreadable" };
let running = null, latest = null;

function latin(bytes) { return new TextDecoder("latin1").decode(bytes); }

// A proof file may have a hundred million bytes; the problem is at its start.
function linesOf(text, key) { return text.split("\n").filter((line) => line.startsWith(`${key} `)).map((line) => line.slice(key.length + 1)); }

function ratioText(kind, a, b) {
  const number = b === "1" ? a : `${a}/${b}`;
  return kind === "e" ? `exp(${number})` : number;
}

// The statement of an accepted file, from its lines.
function statementOf(text) {
  const problem = text.slice(0, text.indexOf("\nclaim ")), rest = text.slice(problem.length + 1);
  const low = linesOf(problem, "sense")[0] === "minimize", k = linesOf(problem, "weights")[0].split(" ").length;
  const [head, second] = linesOf(problem, "utility")[0].split(" "), kind = head === "less" ? second : head;
  const [shape, ...ratio] = linesOf(problem, "cone")[0].split(" ");
  const conditions = [];
  if (shape === "complete") conditions.push(`any two true answers give a report with likelihoods within the factor ${ratioText(...ratio)}`);
  if (shape === "graph") conditions.push(`the likelihoods of a report keep the factors of ${linesOf(problem, "edge").length} ordered pairs of true answers`);
  for (const [key, what] of [["halfspace", "linear conditions on each report"], ["row", "linear conditions on the matrix"], ["floor", "lower limits of entropy"],
    ["limit", "limits of what is revealed"], ["capacity", "limits of capacity"], ["excess", "approximate privacy"], ["renyi", "limits of Rényi divergence"],
    ["concentrated", "limits of concentrated divergence"], ["confidence", "robust privacy over a confidence set"], ["part", "further parts of the sum"]]) {
    const count = linesOf(problem, key).length;
    if (count) conditions.push(`${what} (${count})`);
  }
  const where = `mechanisms for ${k} true answers` + (conditions.length ? ` in which ${conditions.join("; ")}` : "");
  if (rest.startsWith("claim infeasible")) return `There are no ${where}.`;
  const goal = WORTH[kind][Number(low)];
  return `Among all ${where}, none has a ${low ? "smaller" : "larger"} ${goal} than the proved bound. ` +
    (linesOf(rest, "value").length ? "The mechanism of the file is one of them and has the value." : "The file has no mechanism.");
}

// A false copy: one digit of the claimed bound, or of the value where the bound is zero, promises more than is possible.
function oneDigitChanged(text) {
  const sign = (digits) => (digits.startsWith("-") ? 1 : 0);
  const change = (line, field, raise) => {
    const words = line.split(" "), digits = words[field], first = sign(digits);
    for (let i = first; i < digits.length; i++) {
      const digit = Number(digits[i]) + (raise ? 1 : -1);
      // No digit below 0 or above 9, and no zero in front.
      if (digit < 0 || digit > 9 || (digit === 0 && i === first)) continue;
      words[field] = digits.slice(0, i) + digit + digits.slice(i + 1);
      return { line: words.join(" "), said: `Digit ${i - first + 1} of the ${words[0] === "claim" ? "bound" : "value"}: ${digits[i]} became ${digit}.` };
    }
    return null;
  };
  const start = text.indexOf("\nclaim ") + 1, claim = text.slice(start, text.indexOf("\n", start));
  const negative = claim.split(" ")[2].startsWith("-");
  let at = start, old = claim, changed = claim.split(" ")[2] === "0" ? null : change(claim, 2, negative);
  // A numerator of one digit may leave the denominator only: a larger one makes a positive bound smaller.
  if (!changed && claim.split(" ")[2] !== "0") changed = change(claim, 3, !negative);
  if (!changed) {
    at = text.indexOf("\nvalue ") + 1;
    if (!at) return null;
    old = text.slice(at, text.indexOf("\n", at));
    changed = change(old, 1, true);
  }
  return changed && { text: text.slice(0, at) + changed.line + text.slice(at + old.length), said: changed.said };
}

function showMatrix(text) {
  const value = linesOf(text, "value")[0], columns = linesOf(text, "column").map((line) => line.split(" "));
  element("mechanism").hidden = !value || !columns.length;
  if (element("mechanism").hidden) return;
  const unit = BigInt(value.split(" ")[2]), entry = (x, y) => Number((BigInt(columns[y][x]) << 120n) / unit) / 2 ** 120;
  drawMatrix(element("matrix"), columns[0].map((_, x) => `answer ${x + 1}`), columns.map((_, y) => `report ${y + 1}`), entry);
}

function showVerdict({ status, printed }, bytes, name, ms, changed) {
  const proved = status === 0, lines = printed.trim().split("\n"), last = lines[lines.length - 1];
  const box = made("div", "", { className: `verdict ${proved ? "good" : "bad"}` });
  const large = last.endsWith("too large for this machine") ? " (a browser has little stack; proofs/build/rropt-core has more)" : "";
  const why = { 0: "no step of the proof is wrong", 1: `the proof does not hold: ${last}`, 2: last + large }[status];
  box.dataset.status = last.split(" ")[0];
  box.append(made("strong", VERDICTS[status]), made("span", `${name}: ${why}. Checked in ${Math.round(ms)} ms on this device.`));
  element("verdict").replaceChildren(box);
  element("printed").textContent = printed;
  element("details").hidden = status === 2;
  if (status === 2) return;
  const text = latin(bytes), ends = last.match(/-?\d+\/\d+/g) ?? [], low = /\nsense minimize\n/.test(text);
  const shown = ends.map((end, i) => decimal(...end.split("/").map(BigInt), 12, i === 1 || (ends.length === 1 && !low)));
  const [bound, value] = low ? shown : [...shown].reverse();
  element("statement").textContent = proved ? statementOf(text) : "Nothing is proved by this file.";
  element("proved").hidden = !proved;
  element("bound").textContent = bound ?? (proved ? "no mechanism exists" : "none");
  element("value").textContent = value ?? "none";
  element("digest").textContent = (printed.match(/^problem (\w+)/) ?? ["", ""])[1];
  element("changed").textContent = changed;
  element("tamper").hidden = !proved || !oneDigitChanged(text);
  showMatrix(text);
}

async function check(bytes, name, changed = "") {
  if (running) running.cancel();
  element("fault").textContent = "";
  element("verdict").replaceChildren();
  element("details").hidden = true;
  element("running").hidden = false;
  element("progress").value = 0;
  const started = performance.now(), own = startCheck(bytes, (share) => { if (running === own) element("progress").value = share; });
  running = own;
  try {
    const found = await own.verdict;
    latest = { bytes, name };
    showVerdict(found, bytes, name, performance.now() - started, changed);
  } catch (error) {
    if (running === own) element("fault").textContent = `${name}: ${error.message}`;
  }
  if (running === own) { running = null; element("running").hidden = true; }
}

async function receive(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (bytes[0] !== 0x7b) return check(bytes, file.name);
  element("verdict").replaceChildren();
  element("details").hidden = true;
  element("fault").textContent = `${file.name} is not a proof file but JSON. For a certificate, rropt core ${file.name} -o proof.core ` +
    "writes the proof file; a mechanism belongs on the page Randomise.";
}

function checkText(text, name, changed) { return check(new TextEncoder().encode(text), name, changed); }

async function checkDesign(question, design) {
  if (!design.proof) element("fault").textContent = `${question.title}: ${design.outside}; rropt check certificate.json checks it.`;
  else await checkText(design.proof, `${question.title}, ${question.parameter} ${design.level}`);
}

async function start() {
  for (const [name, title] of Object.entries(titles)) element("example").add(new Option(title, name));
  receiveFile("file", receive);
  element("cancel").addEventListener("click", () => running.cancel());
  element("tamper").addEventListener("click", () => {
    const { text, said } = oneDigitChanged(latin(latest.bytes));
    checkText(text, latest.name, said);
  });
  element("check-example").addEventListener("click", async () => {
    const question = await loadQuestion(element("example").value);
    await checkDesign(question, question.designs[3]);
  });
  const found = await designOfHash();
  if (found) await checkDesign(found.question, found.design);
}

start();
