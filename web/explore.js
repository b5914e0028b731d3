// The page Explore: figures of a design at the level of the slider.
"use strict";

const OWN = "your own counts", DEFAULT = "survey-yes-no";
// What is shown: {question, design, figures}, or {names, weights, epsilon, designs, design} of own counts, without a
// design where the page finds none.
let current = null;
let judging = null, waiting = 0;  // the check of an own design, and the timer before it
const curves = {};

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
  const caption = designs[0].name === "k-RR" ? "Closed formulas at this level" : "Beside closed formulas at the same level";
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

// The information kept at each level of a question, by its designs and by k-RR where that has the guarantee.
function curveOf(question) {
  curves[question.name] ??= question.designs.map((design) => {
    const { designs } = figures(question, design), level = Number(design.level);
    return [question.parameter === "gamma" ? Math.log(level) : level, designs];
  });
  return ["this design", ...(question.plain ? ["k-RR"] : [])].map((name, i) => ({
    name, points: curves[question.name].map(([epsilon, designs]) => [epsilon, designs[i].kept]),
  }));
}

function showCurve(lines, epsilon) {
  current.drawCurve = () => drawCurve(element("curve"), lines, epsilon);
  current.drawCurve();
}

function showDesign(question, at) {
  const design = question.designs[at], found = figures(question, design), { mechanism } = found;
  current = { question, design, figures: found };
  const posterior = found.ratio ? `${decimal(100n * found.ratio[0], worstPosterior(...found.ratio)[1], 3, true)} %` : "100 %";
  showCards(found.designs[0], posterior);
  showComparison(found.designs, posterior);
  showCurve(curveOf(question), Math.log(found.g));
  element("sensitive-card").hidden = !question.sensitive;
  element("sensitive").textContent = percent(found.g / (found.g + 9), true);
  element("about").textContent = question.about;
  element("note").textContent = [
    question.plain || question.sensitive ? "" : "Neighbours are protected most; the suspicion below is about answers that are further apart, too.",
    marginText(found.designs[0], answers()) === "no estimate" ? "From these reports the shares of the answers cannot be estimated." : "",
    question.plain && design.guarantee.length > 1 ? "The closed formulas beside it have the level, but not its other conditions." : "",
  ].join(" ");
  element("goal").textContent = question.goal;
  element("guarantee").replaceChildren(...design.guarantee.map((line) => made("li", line)));
  const unit = design.units ? ` ${design.units}` : "";
  element("proof").textContent = `This design has the value ${design.value.toPrecision(10)}${unit}, and the proved bound is ` +
    `${design.bound.toPrecision(10)}${unit}. ` + (design.proof ? "The verified core accepts the proof. The page Check shows it."
    : `The checker of rropt accepts the certificate. The page Check shows it. (${design.outside}.)`);
  element("to-check").href = `check.html#${question.name}:${at}`;
  element("to-randomise").href = `randomise.html#${question.name}:${at}`;
  showCertified(mechanism, true);
}

function showCertified(mechanism, ofQuestion) {
  for (const [, key] of FILES) element(`save-${key}`).hidden = !current.design[key];
  for (const id of ["to-check", "to-randomise"]) element(id).hidden = !ofQuestion;
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

// The own design at epsilon = tenths / 10, and its figures; null where the page finds none.
function ownDesign(names, weights, tenths) {
  if (names.length > MOST_SOLVED) return null;
  const divisor = tenths % 10 === 0 ? 10 : commonDivisorOfNumbers(tenths, 10);
  const found = optimalDesign(names, weights.map(BigInt), [tenths / divisor, 10 / divisor]);
  if (!found) return null;
  const shares = sharesOf(weights), [variance, error] = errorsOf(found.mechanism, shares);
  return { ...found, figures: { name: "best design", kept: information(found.mechanism, shares) / entropy(shares), variance, error } };
}

function commonDivisorOfNumbers(a, b) { while (b) [a, b] = [b, a % b]; return a; }

function ownCurve(names, weights) {
  const key = JSON.stringify([names.length, weights]), shares = sharesOf(weights);
  curves[key] ??= [2, 5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80].map((tenths) => {
    const response = randomizedResponse(shares, Math.exp(tenths / 10));
    return [tenths / 10, (names.length <= 8 && ownDesign(names, weights, tenths)?.figures.kept) || null, response.kept];
  });
  return [["best design", 1], ["k-RR", 2]].map(([name, i]) => ({ name, points: curves[key].filter((point) => point[i] !== null).map((point) => [point[0], point[i]]) }))
    .filter(({ points }) => points.length);
}

function showOwn() {
  const epsilon = Number(element("level").value), { names, weights } = readCounts(element("counts").value);
  const g = Math.exp(epsilon), found = ownDesign(names, weights, Math.round(10 * epsilon));
  const designs = [...(found ? [found.figures] : []), ...closedForms(sharesOf(weights), g)];
  const posterior = percent(g / (g + 9), true);
  current = { names, weights, epsilon, designs };
  showCards(designs[0], posterior);
  element("status").textContent = `${designs[0].name} at ${element("status").textContent}`;
  showComparison(designs, posterior);
  showCurve(ownCurve(names, weights), epsilon);
  element("about").textContent = "";
  element("note").textContent = found && marginText(designs[0], answers()) === "no estimate" ? "From the reports of the best design the shares of the answers cannot be estimated." : "";
  element("certified").hidden = !found;
  element("closed").hidden = Boolean(found);
  judging?.cancel();
  clearTimeout(waiting);
  if (!found) return;
  current.design = { toml: problemText(), mechanism: found.text };
  element("goal").textContent = `The problem: a random perturbation of ${names.length} categories that keeps as much mutual information as possible.`;
  element("guarantee").replaceChildren(made("li", "Every output is at most exp(epsilon) times as likely under one true answer as under any other."));
  element("proof").textContent = "This page computed the design. The verified core is about to check the proof that no other one keeps more.";
  showCertified(found.mechanism, false);
  waiting = setTimeout(judgeOwn, 150, current, found);
}

// Has the verified core judge an own design; only then its proof and certificate can be saved.
async function judgeOwn(shown, found) {
  const begun = performance.now();
  try {
    if (!coreText) await loadScript("data/core.js");
    if (current !== shown) return;
    const own = judging = startProof(new TextEncoder().encode(found.proof), () => {});
    const { status, printed } = await own.verdict;
    if (current !== shown) return;
    if (status !== 0) throw new Error(printed.trim().split("\n").at(-1));
    Object.assign(shown.design, { certificate: found.certificate, proof: found.proof });
    const [value, bound] = [decimal(...found.value, 10, false), decimal(...found.bound, 10, true)];
    element("proof").textContent = `Proved on this device in ${((performance.now() - begun) / 1000).toFixed(2)} s: this design keeps ` +
      `${value} nats, and no design at this level keeps more than ${bound}. The verified core accepts the proof.`;
    showCertified(found.mechanism, false);
  } catch (error) {
    if (current === shown && error.message !== "cancelled") element("proof").textContent = `This design is not proved to be the best (${error.message}).`;
  }
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
  judging?.cancel();
  clearTimeout(waiting);
  element("sensitive-card").hidden = own;
  element("own").hidden = !own;
  element("certified").hidden = false;
  element("closed").hidden = true;
  Object.assign(slider, own ? { min: 0.1, max: 8, step: 0.1, value: 1 } : { min: 0, max: 5, step: 1, value: 3 });
  try {
    if (own) {
      element("answers").value = readCounts(element("counts").value).weights.reduce((sum, n) => sum + Number(n), 0);
      return show();
    }
    const question = await loadQuestion(name);
    if (element("question").value !== name) return;  // another one was chosen meanwhile
    slider.max = question.designs.length - 1;
    slider.value = question.designs.length >> 1;
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
  addEventListener("resize", () => current?.drawCurve?.());
  choose();
}

start();
