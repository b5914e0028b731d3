// The page Check: a proof file is judged by the verified core; a certificate by the checker and the verified core.
"use strict";

const HEADS = { PROVED: "Proved", REFUTED: "Refuted", UNREADABLE: "Unreadable", OTHER: "Proved, but of another design" };
const STAGES = {
  python: "Python and the checker are loading (once, some seconds)", checker: "The checker is reading", core: "The verified core is reading",
};
const MOST_BYTES = 1 << 28, MOST_FILES = 10000, READ = ["certificate.json", "mechanism.json", "mechanism.csv"];
let running = null, latest = null;

function latin(bytes) { return new TextDecoder("latin1").decode(bytes); }

// ---- What is shown: {status, name, why, printed, statement, bound, value, rules, assumptions, mechanism, tampered} ----

function digits(end, up) { return end ? decimal(BigInt(end[0]), BigInt(end[1]), 12, up) : null; }

function shownProof(text, name, { status, printed }) {
  const last = printed.trim().split("\n").at(-1), proved = status === 0;
  const large = last.endsWith("too large for this machine") ? " (a browser has little stack; proofs/build/rropt-core has more)" : "";
  const shown = { name, printed, status: last.split(" ")[0], why: { 0: "the verified core accepts every step", 1: `${last.replace("REFUTED at ", "")} breaks a rule, so nothing is proved`, 2: last + large }[status] };
  if (status === 2) return shown;
  const problem = text.slice(0, text.indexOf("\nclaim ")), low = /\nsense minimize\n/.test(problem);
  const ends = (last.match(/-?\d+\/\d+/g) ?? []).map((end) => end.split("/"));
  const [bound, value] = low ? ends : [...ends].reverse();
  return {
    ...shown,
    ...(proved ? {
      statement: statementOf(problem, text.includes("\nclaim infeasible"), Boolean(value)),
      bound: digits(bound, !low) ?? "no design exists", value: digits(value, low) ?? "none", rules: rulesOf(text), assumptions: [],
      tampered: tamperedProof(text),
    } : {}),
    mechanism: mechanismOfProof(text),
  };
}

function mechanismOfProof(text) {
  const value = linesOf(text, "value")[0], columns = linesOf(text, "column").map((line) => line.split(" "));
  if (!value || !columns.length) return null;
  const unit = BigInt(value.split(" ")[2]), inputs = columns[0].map((_, x) => `answer ${x + 1}`);
  return {
    inputs, outputs: columns.map((_, y) => `report ${y + 1}`), denominators: inputs.map(() => unit),
    rows: inputs.map((_, x) => columns.map((column) => BigInt(column[x]))),
  };
}

// A false copy: one digit of the claimed bound, or of the value where the bound is zero, promises more than is possible.
function tamperedProof(text) {
  const swap = (start, key, change) => {
    const line = text.slice(start, text.indexOf("\n", start)), words = line.slice(key.length + 1).split(" "), found = change(words);
    return found && { text: text.slice(0, start) + [key, found.n, found.d, ...words.slice(2)].join(" ") + text.slice(start + line.length), said: `in the ${key === "claim infeasible" ? "claim" : key.split(" ").at(-1)}, ${found.said}` };
  };
  const claim = text.indexOf("\nclaim ") + 1, value = text.indexOf("\nvalue ") + 1, [, kind] = text.slice(claim, claim + 40).split(" ");
  const found = swap(claim, `claim ${kind}`, ([n, d]) => smallerByOneDigit(n, d));
  if (found || !value) return found;
  return swap(value, "value", ([n, d]) => {
    const less = n === "0" ? { n: "-1", d, said: "the sign changed" } : smallerByOneDigit(n.startsWith("-") ? n.slice(1) : `-${n}`, d);
    return less && { ...less, n: less.n.startsWith("-") ? less.n.slice(1) : `-${less.n}` };
  });
}

function shownCertificate(found, files) {
  const shown = { name: found.name, printed: found.report, status: found.status };
  if (found.status !== "PROVED") return { ...shown, why: found.reason };
  const document = JSON.parse(found.certificate), { problem } = document, low = problem.sense === "minimize", { ends } = found;
  const infeasible = found.kind === "infeasible", byCore = found.by === "verified core";
  let mechanism = null, unlike = [];
  try { mechanism = document.mechanism && mechanismOf(document.mechanism, problem.inputs); } catch { /* too large to be shown */ }
  if (mechanism) unlike = otherMechanisms(mechanism, found.beside);
  const alone = !mechanism && Object.keys(found.beside).length ? "; the files beside it are too large to be compared here" : "";
  const steps = (document.proof.steps ?? []).map((step) => [`a step of the certificate: ${step.kind}`, "checked by the checker alone"]);
  const own = byCore && found.proof ? rulesOf(found.proof)
    : [[`a proof of the kind ${document.proof.kind}`, "checked by the checker alone"]];
  const valued = byCore && !infeasible && !own.some(([what]) => what.endsWith("has the value"))
    ? [["the matrix is a design of the problem, and has the value", "checked by the checker alone"]] : [];
  return {
    ...shown,
    ...(unlike.length ? { status: "OTHER", why: `the certificate holds, but beside it ${unlike.join(" and ")} has another matrix` }
      : { why: (byCore ? "the checker and the verified core accept it" : "the checker accepts it") + alone }),
    statement: found.lines ? statementOf(found.lines.join("\n"), infeasible, !infeasible)
      : `${infeasible ? "No design exists for this problem" : "No design of this problem is better than the proved bound, and the design of the file has the value"}: ${found.problem}.`,
    bound: digits(low ? ends.lower : ends.upper, !low) ?? "no design exists", value: digits(low ? ends.value_upper : ends.value_lower, low) ?? "none",
    rules: [...valued, ...steps, ...own], assumptions: found.assumptions, mechanism,
    // What proves that there is no design claims no number; its proof file does.
    tampered: tamperedCertificate(document, files, found.name) ?? (found.proof && tamperedProof(found.proof)),
  };
}

function tamperedCertificate(document, files, name) {
  if (document.bound === null) return null;
  const low = document.problem.sense === "minimize", [n, d = "1"] = document.bound.split("/");
  const turned = (number) => (number.startsWith("-") ? number.slice(1) : number === "0" ? number : `-${number}`);
  const found = smallerByOneDigit(low ? turned(n) : n, d);
  if (!found) return null;
  const bound = (low ? turned(found.n) : found.n) + (found.d === "1" ? "" : `/${found.d}`);
  const bytes = new TextEncoder().encode(JSON.stringify({ ...document, bound }));
  return { files: [[name.split("/").at(-1), bytes]], said: `in the bound, ${found.said}` };
}

// The files beside a certificate that have another matrix than it. A table has rounded numbers.
function otherMechanisms(mechanism, beside) {
  const own = JSON.stringify([mechanism.inputs, reducedRows(mechanism)]);
  const same = {
    "mechanism.json": (text) => { const found = readMechanism(text); return JSON.stringify([found.inputs, reducedRows(found)]) === own; },
    "mechanism.csv": (text) => {
      const [, ...rows] = readTable(text), { inputs, outputs } = mechanism;
      return rows.length === inputs.length && rows.every((row, x) => row.length === outputs.length + 1 && row.slice(1).every((cell, y) => {
        const exact = probability(mechanism, x, y);
        return cell !== "" && Math.abs(Number(cell) - exact) <= 1e-9 * exact;
      }));
    },
  };
  return Object.entries(beside).filter(([name, text]) => { try { return !same[name](text); } catch { return true; } }).map(([name]) => name);
}

// Rows of a table with commas; a cell in quotes may have any letters.
function readTable(text) {
  const rows = [[]];
  for (const [, quoted, plain, end] of text.replace(/^\ufeff/, "").matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    rows.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === "") break;
    if (end !== ",") rows.push([]);
  }
  return rows.filter((row) => row.length > 1 || row[0]);
}

// ---- The page ----

function show(found, ms, changed) {
  if (changed) found = { ...found, name: "One digit was changed", why: `${changed}; ${found.why}` };
  const good = found.status === "PROVED", box = made("div", "", { className: `verdict ${good ? "good" : "bad"}` });
  box.dataset.status = found.status;
  box.append(made("strong", HEADS[found.status]), made("span", `${found.name}: ${found.why}. Checked in ${(ms / 1000).toFixed(ms < 995 ? 2 : 1)} s on this device.`));
  element("verdict").replaceChildren(box);
  element("printed").textContent = found.printed;
  element("details").hidden = false;
  element("statement").textContent = found.statement ?? "";
  for (const id of ["proved", "grounds"]) element(id).hidden = !found.statement;
  for (const id of ["bound", "value"]) element(id).textContent = found[id] ?? "";
  latest = found.tampered ?? null;
  element("tamper").hidden = !latest;
  element("mechanism").hidden = !found.mechanism;
  if (found.mechanism) drawMatrix(element("matrix"), found.mechanism.inputs, found.mechanism.outputs, (x, y) => probability(found.mechanism, x, y));
  if (found.statement) showGrounds(found);
}

function showGrounds({ rules, assumptions }) {
  const body = made("tbody"), head = made("tr");
  head.append(made("th", "Rule", { scope: "col" }), made("th", "Status", { scope: "col" }));
  body.append(head, ...rules.map(([what, status]) => {
    const row = made("tr");
    row.append(made("th", what, { scope: "row" }), made("td", status));
    return row;
  }));
  element("rules").replaceChildren(made("caption", "What the proof uses"), body);
  element("assumed").textContent = assumptions.length ? "The proof assumes these lemmas, which are not proved in Coq:" : "No lemma is assumed.";
  element("assumptions").replaceChildren(...assumptions.flatMap((name) => [made("dt", name), made("dd", meanings[name] ?? "")]));
}

// Runs a check that start() begins, and shows what shown() makes of its verdict.
async function run(name, start, shown, changed) {
  if (running) running.cancel();
  element("fault").textContent = "";
  element("verdict").replaceChildren();
  element("details").hidden = true;
  element("running").hidden = false;
  const begun = performance.now(), bar = element("progress");
  let own = null;
  const progress = (stage, share) => {
    if (running !== own) return;
    element("stage").textContent = STAGES[stage];
    if (share === undefined) bar.removeAttribute("value"); else bar.value = share;
  };
  progress("core", 0);
  own = running = { cancel() {} };
  Object.assign(own, start(progress));
  try {
    const found = await own.verdict;
    if (found.unfit) element("fault").textContent = `${name}: ${found.unfit}.`;
    else show(shown(found), performance.now() - begun, changed);
  } catch (error) {
    if (running === own) element("fault").textContent = `${name}: ${error.message}`;
  }
  if (running === own) { running = null; element("running").hidden = true; }
}

function check(bytes, name, changed = "") {
  return run(name, (progress) => startProof(bytes, progress), (found) => shownProof(latin(bytes), name, found), changed);
}

function checkText(text, name, changed) { return check(new TextEncoder().encode(text), name, changed); }

// files: a list of [path, bytes], of a folder, or one certificate or archive.
function checkFiles(files, name, changed = "") {
  if (!hasPython) {
    return refuse(`${name}: these pages were built without Python, and check proof files only. rropt check ${name} checks it, and rropt core ${name} -o proof.core writes the proof file`);
  }
  return run(name, (progress) => startCertificate(files, progress), (found) => shownCertificate(found, files), changed);
}

function refuse(text) {
  if (running) running.cancel();
  element("verdict").replaceChildren();
  element("details").hidden = true;
  element("fault").textContent = `${text}.`;
}

// given: a list of {path, file} that was chosen or dropped, with the name of the folder or file.
async function receive(given, name, isFolder) {
  const wanted = isFolder ? given.filter(({ path }) => READ.includes(path.split("/").at(-1))) : given;
  if (isFolder && !wanted.length) return refuse(`${name} has no certificate.json. Give the folder that rropt solve --out wrote, or a certificate`);
  if (wanted.reduce((sum, { file }) => sum + file.size, 0) > MOST_BYTES) return refuse(`${name} is larger than 256 MiB; rropt check has no page to fill`);
  const files = await Promise.all(wanted.map(async ({ path, file }) => [path, new Uint8Array(await file.arrayBuffer())]));
  if (isFolder) return checkFiles(files, name);
  const [[, bytes]] = files, start = latin(bytes.subarray(0, 400));
  if (/^\s*\{/.test(start) || start.startsWith("PK")) {
    if (start.includes('"rropt-mechanism"')) return refuse(`${name} is a mechanism. It belongs on the page Randomise; its certificate is beside it`);
    return checkFiles(files, name);
  }
  return check(bytes, name);
}

// The entries of a dropped folder: [name, its file or a function that gives its entries]. Chromium reads an entry on pages
// from a server only, and other browsers have no handles.
async function* entriesOf(handle, entry) {
  if (handle) {
    for await (const one of handle.values()) yield [one.name, one.kind === "directory" ? () => entriesOf(one) : await one.getFile()];
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const entries = await new Promise((resolve, reject) => { reader.readEntries(resolve, reject); });
    if (!entries.length) return;
    for (const one of entries) {
      yield [one.name, one.isDirectory ? () => entriesOf(null, one) : await new Promise((resolve, reject) => { one.file(resolve, reject); })];
    }
  }
}

async function filesOf(entries, path, found = []) {
  for await (const [name, content] of entries) {
    if (found.length >= MOST_FILES) throw new Error(`it has more than ${MOST_FILES} files`);
    if (content instanceof File) found.push({ path: `${path}/${name}`, file: content });
    else await filesOf(content(), `${path}/${name}`, found);
  }
  return found;
}

async function receiveFolder(name, handle, entry) {
  try {
    await receive(await filesOf(entriesOf(await handle, entry), name), name, true);
  } catch (error) {
    refuse(`${name}: this browser does not read it here (${error.message}). Choose it with the button, or drop its certificate.json`);
  }
}

async function checkDesign(question, design) {
  const name = `${question.title}, ${question.parameter} ${design.level}`;
  if (design.proof) return checkText(design.proof, name);
  if (hasPython) return checkFiles([["certificate.json", new TextEncoder().encode(design.certificate)]], name);
  return refuse(`${question.title}: ${design.outside}; rropt check certificate.json checks it`);
}

async function start() {
  for (const [name, title] of Object.entries(titles)) element("example").add(new Option(title, name));
  receiveFile("file", (file) => receive([{ path: file.name, file }], file.name, false), receiveFolder);
  chosenAgain(element("folder"));
  element("folder").addEventListener("change", () => {
    const given = [...element("folder").files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
    if (given.length) receive(given, given[0].path.split("/")[0], true);
  });
  element("cancel").addEventListener("click", () => running.cancel());
  element("tamper").addEventListener("click", () => {
    const { text, files, said } = latest;
    if (files) checkFiles(files, files[0][0], said); else checkText(text, "changed proof file", said);
  });
  element("check-example").addEventListener("click", async () => {
    const question = await loadQuestion(element("example").value);
    await checkDesign(question, question.designs[3]);
  });
  const found = await designOfHash();
  if (found) await checkDesign(found.question, found.design);
  // Who is on this page will check something: Python is there by then.
  if (hasPython) startPython().catch(() => {});
}

start();
