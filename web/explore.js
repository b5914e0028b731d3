// The page Explore: figures of a design at the level of the slider.
"use strict";

const OWN = "your own counts", DEFAULT = "census-column";
let current = null;  // what is shown: {question, design, figures}, or {names, weights, epsilon, designs} of own counts

function percent(share, up) { return share === null ? "not computed" : `${rounded(100 * share, 3, up)} %`; }

function marginText(design, answers) {
  const margin = marginOf(design, answers);
  return margin === null ? "no estimate" : `± ${rounded(100 * margin, 2, true)} points`;
}

function answers() { return Math.max(1, Math.floor(Number(element("answers").value)) || 1); }

function showComparison(designs, posterior) {
  const heads = ["", ...designs.map((one) => one.name)];
  const n = answers(), first = designs.find((one) => one.name === "k-RR");
  const respondents = (one) => (one.error === null || !first || marginText(one, n) === "no estimate" ? "–"
    : `${((100 * one.error) / first.error).toPrecision(3)} %`);
  const lines = [
    ["information kept, at least", ...designs.map((one) => percent(one.kept, false))],
    ["a 10 % suspicion becomes at most", ...designs.map(() => posterior)],
    [`margin of error of a share, ${n.toLocaleString("en")} answers (95 %)`, ...designs.map((one) => marginText(one, n))],
    ...(first ? [["respondents for the same squared error", ...designs.map(respondents)]] : []),
  ];
  const rows = [heads, ...lines].map((cells, at) => {
    const row = made("tr");
    row.append(...cells.map((text, y) => (at && y ? made("td", text) : text ? made("th", text, { scope: y ? "col" : "row" }) : made("td"))));
    return row;
  });
  const body = made("tbody");
  body.append(...rows);
  // k-RR does not have every guarantee; alone a design is in the cards already.
  element("comparison").parentElement.hidden = !first;
  const caption = current.design ? "Beside closed formulas at the same level" : "Closed formulas at this level";
  element("comparison").replaceChildren(made("caption", caption), body);
}

function showCards(design, posterior) {
  const n = answers();
  element("kept").textContent = percent(design.kept, false);
  element("posterior").textContent = posterior;
  element("margin-title").textContent = `Margin of error of a share, ${n.toLocaleString("en")} answers (95 %)`;
  element("margin").textContent = marginText(design, n);
  element("status").textContent = `${element("level-text").value}: ${element("kept").textContent} of the information is kept; ` +
    `a 10 % suspicion becomes at most ${posterior}; margin of error ${element("margin").textContent}.`;
}

function showDesign(question, at) {
  const design = question.designs[at], found = figures(question, design), { mechanism } = found;
  current = { question, design, figures: found };
  const posterior = found.ratio ? `${decimal(100n * found.ratio[0], worstPosterior(...found.ratio)[1], 3, true)} %` : "100 %";
  showCards(found.designs[0], posterior);
  showComparison(found.designs, posterior);
  element("sensitive-card").hidden = !question.sensitive;
  element("sensitive").textContent = percent(found.g / (found.g + 9), true);
  element("about").textContent = question.about;
  element("note").textContent = [
    question.plain || question.sensitive ? "" : "Neighbours are protected most; the suspicion below is about answers that are further apart, too.",
    marginText(found.designs[0], answers()) === "no estimate" ? "From these reports the shares of the answers cannot be estimated." : "",
  ].join(" ");
  element("goal").textContent = question.goal;
  element("guarantee").replaceChildren(...design.guarantee.map((line) => made("li", line)));
  const unit = design.units ? ` ${design.units}` : "";
  element("proof").textContent = `This design has the value ${design.value.toPrecision(10)}${unit}, and the proved bound is ` +
    `${design.bound.toPrecision(10)}${unit}. ` + (design.proof ? "The verified core checks the proof, also on the page Check."
    : `The checker of rropt accepts it (rropt check certificate.json); ${design.outside}.`);
  for (const id of ["to-check", "save-proof"]) element(id).hidden = !design.proof;
  element("to-check").href = `check.html#${question.name}:${at}`;
  element("to-randomise").href = `randomise.html#${question.name}:${at}`;
  drawMatrix(element("matrix"), mechanism.inputs, mechanism.outputs, (x, y) => probability(mechanism, x, y));
}

// "label, count" on each line, or label and count with a tab; a label may have commas. Throws an Error.
function readCounts(text) {
  const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
  const pairs = lines.map((line) => line.match(/^(.*\S)\s*[,;\t]\s*(\d{1,15})$/));
  const wrong = pairs.indexOf(null);
  if (wrong >= 0) throw new Error(`line ${wrong + 1} is not a category and a count: ${lines[wrong].slice(0, 60)}`);
  const names = pairs.map((pair) => pair[1]);
  if (names.length < 2 || names.length > MOST_INPUTS) throw new Error(`give 2 to ${MOST_INPUTS} categories`);
  if (new Set(names).size !== names.length) throw new Error("two lines have the same category");
  const weights = pairs.map((pair) => pair[2]);
  if (weights.filter((w) => Number(w) > 0).length < 2) throw new Error("two counts must be above zero");
  return { names, weights };
}

function showOwn() {
  const epsilon = Number(element("level").value), { names, weights } = readCounts(element("counts").value);
  const designs = closedForms(sharesOf(weights), Math.exp(epsilon)), g = Math.exp(epsilon);
  const posterior = percent(g / (g + 9), true);
  current = { names, weights, epsilon, designs };
  showCards(designs[0], posterior);
  element("status").textContent = `k-RR at ${element("status").textContent}`;
  showComparison(designs, posterior);
  for (const id of ["about", "note"]) element(id).textContent = "";
}

function problemText() {
  // A JSON string is a TOML string, but for one control character, DEL, that JSON does not escape.
  const text = (label) => JSON.stringify(label).replace(/\x7f/g, "\\u007F");
  return `schema = 1\nname = "problem"\n\n[input]\ncategories = [${current.names.map(text).join(", ")}]\n` +
    `counts = [${current.weights.map(String).map((w) => w.replace(/^0+(?=\d)/, "")).join(", ")}]\n\n` +
    `[objective]\nmaximize = "mutual_information"\n\n[[constraint]]\nkind = "ldp"\nepsilon = "${current.epsilon}"\n`;
}

function show() {
  const own = element("question").value === OWN, slider = element("level"), at = Number(slider.value);
  let text = `epsilon ${at}`;
  if (!own) {
    const question = questions[element("question").value], level = question.designs[at].level;
    text = question.parameter === "gamma" ? `gamma ${level} (epsilon ${rounded(Math.log(level), 3, true)})` : `epsilon ${level}`;
  }
  element("level-text").value = text;
  slider.setAttribute("aria-valuetext", text);
  element("fault").textContent = "";
  element("result").hidden = false;
  try {
    if (own) showOwn(); else showDesign(questions[element("question").value], at);
  } catch (error) {
    element("fault").textContent = error.message;
    element("result").hidden = true;
  }
}

async function choose() {
  const name = element("question").value, own = name === OWN, slider = element("level");
  for (const id of ["certified", "sensitive-card"]) element(id).hidden = own;
  for (const id of ["own", "closed"]) element(id).hidden = !own;
  Object.assign(slider, own ? { min: 0.1, max: 8, step: 0.1, value: 1 } : { min: 0, max: 5, step: 1, value: 3 });
  try {
    if (own) {
      element("answers").value = readCounts(element("counts").value).weights.reduce((sum, n) => sum + Number(n), 0);
      return show();
    }
    const question = await loadQuestion(name);
    if (element("question").value !== name) return;  // another one was chosen meanwhile
    slider.max = question.designs.length - 1;
    element("answers").value = question.answers;
    show();
  } catch (error) {
    element("fault").textContent = error.message;
  }
}

const FILES = [["problem.toml", "toml"], ["mechanism.json", "mechanism"], ["mechanism.csv", "csv"], ["certificate.json", "certificate"], ["proof.core", "proof"]];

function start() {
  for (const [name, title] of Object.entries(titles)) element("question").add(new Option(title, name));
  element("question").add(new Option("Your own counts", OWN));
  element("question").value = DEFAULT;
  for (const [name, key] of FILES) {
    element("downloads").append(made("button", `Save ${name}`, { type: "button", id: `save-${key}`, onclick: () => saveText(name, current.design[key]) }));
  }
  element("save-problem").addEventListener("click", () => saveText("problem.toml", problemText()));
  element("question").addEventListener("change", choose);
  for (const id of ["level", "answers", "counts"]) element(id).addEventListener("input", show);
  choose();
}

start();
