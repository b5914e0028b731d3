// What the three pages share. Texts from files and labels enter the page as text only, never as HTML.
"use strict";

const questions = {}, titles = {}, meanings = {};
let hasPython = false;
let coreText = "";
// The scripts of data/ call these: a page opened from a folder may load scripts, but not fetch files.
function addQuestion(question) { questions[question.name] = question; }
function addNames(found) { Object.assign(titles, found.titles); Object.assign(meanings, found.meanings); hasPython = found.python; }
function addCore(text) { coreText = text; }

function element(id) { return document.getElementById(id); }

function made(tag, text = "", properties = {}) {
  const one = Object.assign(document.createElement(tag), properties);
  one.textContent = text;
  return one;
}

function loadScript(path) {
  return new Promise((resolve, reject) => {
    const script = made("script", "", { src: path, onload: resolve });
    script.onerror = () => reject(new Error(`${path} is missing: run make web again`));
    document.head.append(script);
  });
}

async function loadQuestion(name) {
  if (!Object.hasOwn(titles, name)) throw new Error(`there is no question ${name}`);
  if (!questions[name]) await loadScript(`data/${name}.js`);
  return questions[name];
}

// A link such as check.html#census-column:3 means the fourth design of a question.
async function designOfHash() {
  const [name, at] = decodeURIComponent(location.hash.slice(1)).split(":");
  if (!Object.hasOwn(titles, name)) return null;
  const question = await loadQuestion(name);
  return question.designs[at] ? { question, design: question.designs[at] } : null;
}

function saveText(name, text) {
  const link = made("a", "", { href: URL.createObjectURL(new Blob([text])), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// The same file, chosen again, counts as chosen.
function chosenAgain(input) { input.addEventListener("click", () => { input.value = ""; }); }

// Calls receive(file) for a file that is chosen with the input of this id, or dropped on the box around it, and
// receiveFolder(name, handle, entry) for a folder that is dropped there: handle is a promise, or undefined.
function receiveFile(id, receive, receiveFolder) {
  const input = element(id), box = input.closest(".drop");
  input.addEventListener("change", () => { if (input.files[0]) receive(input.files[0]); });
  chosenAgain(input);
  for (const kind of ["dragover", "dragleave", "drop"]) {
    box.addEventListener(kind, (event) => { event.preventDefault(); box.classList.toggle("over", kind === "dragover"); });
  }
  box.addEventListener("drop", ({ dataTransfer: { items, files } }) => {
    const entry = items[0]?.webkitGetAsEntry?.();
    if (entry?.isDirectory && receiveFolder) receiveFolder(entry.name, items[0].getAsFileSystemHandle?.(), entry);
    else if (files[0]) receive(files[0]);
  });
}

// n / d (BigInt, d > 0) with this many significant digits, rounded down or up: never to the side that says too much.
function decimal(n, d, digits, up) {
  if (n < 0n) return "-" + decimal(-n, d, digits, !up);
  if (n === 0n) return "0";
  let places = digits - (String(n).length - String(d).length);
  const parts = () => (places > 0 ? [n * 10n ** BigInt(places), d] : [n, d * 10n ** BigInt(-places)]);
  if (String(parts()[0] / parts()[1]).length > digits) places -= 1;
  const [top, below] = parts();
  const quotient = top / below + (up && top % below ? 1n : 0n);
  if (places <= 0) return String(quotient * 10n ** BigInt(-places));
  const text = String(quotient).padStart(places + 1, "0");
  return `${text.slice(0, -places)}.${text.slice(-places)}`.replace(/\.?0+$/, "");
}

// The same for a number of floating point.
function rounded(x, digits, up) {
  if (!(x > 0)) return "0";
  const places = digits - 1 - Math.floor(Math.log10(x));
  const whole = (up ? Math.ceil : Math.floor)(x * 10 ** places);
  return places > 0 ? String(Number((whole / 10 ** places).toFixed(places))) : (whole * 10 ** -places).toLocaleString("en");
}

// A suspicion of one in ten, where entries of a column have at most the ratio n / d: by Bayes' rule n / (n + 9 d).
function worstPosterior(n, d) { return [n, n + 9n * d]; }

const MOST_CELLS = 40;

// Draws a matrix of numbers; darker cells are likelier. What is beyond 40 rows or columns is counted.
function drawMatrix(table, inputs, outputs, entry) {
  const rows = Math.min(inputs.length, MOST_CELLS), columns = Math.min(outputs.length, MOST_CELLS), body = made("tbody");
  const heads = made("tr");
  heads.append(made("td", ""), ...outputs.slice(0, columns).map((name) => made("th", name, { scope: "col" })));
  body.append(heads);
  let largest = 0;
  for (let x = 0; x < rows; x++) for (let y = 0; y < columns; y++) largest = Math.max(largest, entry(x, y));
  for (let x = 0; x < rows; x++) {
    const row = made("tr");
    row.append(made("th", inputs[x], { scope: "row" }));
    for (let y = 0; y < columns; y++) {
      const cell = made("td", entry(x, y).toFixed(3));
      // The root keeps unlikely outputs apart from impossible ones; 0.4 keeps the text readable.
      cell.style.setProperty("--strength", (0.4 * Math.sqrt(entry(x, y) / largest)).toFixed(3));
      row.append(cell);
    }
    body.append(row);
  }
  const more = [[inputs.length - rows, "more rows"], [outputs.length - columns, "more columns"]].filter(([n]) => n > 0);
  const caption = "Probability of each report (column) for each true answer (row)";
  table.replaceChildren(made("caption", [caption, ...more.map(([n, what]) => `${n} ${what}`)].join("; ")), body);
}
