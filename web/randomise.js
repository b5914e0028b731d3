// The page Randomise: one exact draw from a mechanism, kept on this device, without the true answer.
"use strict";

const SECURE = (count) => crypto.getRandomValues(new Uint8Array(count));
let mechanism = null, digest = "";

// A uniform integer in 0, ..., n - 1: as many random bits as n - 1 has, drawn again while they are n or more.
function uniformBelow(n, bytes = SECURE) {
  const bits = (n - 1n).toString(2).length, count = Math.ceil(bits / 8);
  for (;;) {
    let number = 0n;
    for (const byte of bytes(count)) number = (number << 8n) | BigInt(byte);
    number &= (1n << BigInt(bits)) - 1n;
    if (number < n) return number;
  }
}

// The index of a report for the true answer x, by exact integers.
function drawReport({ rows, denominators }, x, bytes = SECURE) {
  let left = uniformBelow(denominators[x], bytes);
  return rows[x].findIndex((n) => { if (left < n) return true; left -= n; return false; });
}

// The same mechanism has one digest, whatever file it came from: a file that is written differently draws nothing new.
function digestOf(found) { return sha256(JSON.stringify([found.inputs, found.outputs, reducedRows(found)])); }

// The guarantee as odds. The ratio is rounded up.
function oddsText(ratio) {
  if (!ratio || ratio[0] > 1000n * ratio[1]) {
    return "This design does not protect every answer against every other one: a report may rule an answer out, or nearly so. " +
      "Ask the survey which answers it protects against each other.";
  }
  const most = decimal(...ratio, 3, true), share = decimal(100n * ratio[0], worstPosterior(...ratio)[1], 3, true);
  return `Whatever your true answer is, no report is more than ${most} times as likely as for any other answer. If somebody ` +
    `holds odds of 1 to 9 on your answer before, a suspicion of 10 %, then after the report the odds are at most ${most} to 9: ` +
    `the suspicion becomes at most ${share} %.`;
}

function key() { return `rropt draw ${digest} ${element("identifier").value.trim()}`; }

function showReport() {
  let kept = null;
  try {
    kept = localStorage.getItem(key());
  } catch {
    element("fault").textContent = "This browser keeps nothing for this page, so a reload would draw again. Allow it to store data for this page.";
  }
  const blocked = element("fault").textContent !== "";
  element("form").hidden = kept !== null || blocked;
  for (const id of ["report", "again"]) element(id).hidden = kept === null;
  element("report").replaceChildren(made("span", "The report to give: "), made("strong", kept ?? ""));
}

function draw(event) {
  event.preventDefault();
  const chosen = document.querySelector("#options input:checked");
  element("fault").textContent = chosen ? "" : "Choose your true answer first.";
  if (!chosen) return;
  const x = Number(chosen.value);
  chosen.checked = false;
  // Another window may have drawn meanwhile: its report counts.
  if (localStorage.getItem(key()) === null) localStorage.setItem(key(), mechanism.outputs[drawReport(mechanism, x)]);
  showReport();
  // The button that had the focus is hidden now; a screen reader goes on with the report.
  element("report").focus();
}

function open(text, title) {
  element("fault").textContent = "";
  for (const id of ["survey", "report", "again"]) element(id).hidden = true;
  try {
    mechanism = readMechanism(text);
  } catch (error) {
    element("fault").textContent = `${title}: ${error.message}`;
    return;
  }
  digest = digestOf(mechanism);
  element("survey").hidden = false;
  element("about").textContent = title;
  element("digest").textContent = digest;
  element("odds").textContent = oddsText(privacyRatio(mechanism));
  // autocomplete="off": no browser restores the true answer after a reload.
  element("options").replaceChildren(...mechanism.inputs.map((name, x) => {
    const label = made("label");
    label.append(made("input", "", { type: "radio", name: "answer", value: x, autocomplete: "off" }), made("span", name));
    return label;
  }));
  showReport();
}

async function start() {
  element("form").addEventListener("submit", draw);
  element("identifier").addEventListener("input", () => { if (mechanism) { element("fault").textContent = ""; showReport(); } });
  receiveFile("file", async (file) => open(await file.text(), file.name));
  const found = await designOfHash();
  if (found) open(found.design.mechanism, `${found.question.title}, ${found.question.parameter} ${found.design.level}`);
}

start();
