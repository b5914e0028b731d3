// A picture of what designs keep at each level.
"use strict";

function drawn(tag, properties, text = "") {
  const one = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(properties)) one.setAttribute(name, value);
  one.textContent = text;
  return one;
}

// lines: [{name, points: [[epsilon, kept], ...]}, ...], the first one of this design; at: the epsilon that is shown.
function drawCurve(picture, lines, at) {
  const width = Math.max(picture.parentElement.clientWidth, 280), height = 190, left = 44, right = 12, top = 12, bottom = 36;
  const every = lines.flatMap(({ points }) => points), first = Math.min(...every.map(([x]) => x)), last = Math.max(...every.map(([x]) => x));
  const x = (epsilon) => (left + ((epsilon - first) / (last - first)) * (width - left - right)).toFixed(1);
  const y = (kept) => (top + (1 - kept) * (height - top - bottom)).toFixed(1);
  const parts = [];
  for (const share of [0, 0.5, 1]) {
    parts.push(drawn("line", { x1: left, x2: width - right, y1: y(share), y2: y(share), class: "rule" }));
    parts.push(drawn("text", { x: left - 6, y: Number(y(share)) + 4, "text-anchor": "end" }, `${100 * share} %`));
  }
  for (const [share, anchor] of [[0, "start"], [0.5, "middle"], [1, "end"]]) {
    const epsilon = first + share * (last - first);
    parts.push(drawn("text", { x: x(epsilon), y: height - bottom + 16, "text-anchor": anchor }, rounded(epsilon, 2, false)));
  }
  parts.push(drawn("text", { x: x((first + last) / 2), y: height - 4, "text-anchor": "middle" }, "epsilon"));
  [...lines].reverse().forEach(({ name, points }) => {
    const own = name === lines[0].name;
    parts.push(drawn("polyline", { points: points.map(([e, kept]) => `${x(e)},${y(kept)}`).join(" "), class: own ? "own" : "other" }));
  });
  const shown = lines[0].points.reduce((one, point) => (Math.abs(point[0] - at) < Math.abs(one[0] - at) ? point : one));
  parts.push(drawn("circle", { cx: x(shown[0]), cy: y(shown[1]), r: 6, class: "here" }));
  lines.forEach(({ name }, i) => {
    parts.push(drawn("line", { x1: left + 10, x2: left + 34, y1: top + 12 + 18 * i, y2: top + 12 + 18 * i, class: i ? "other" : "own" }));
    parts.push(drawn("text", { x: left + 40, y: top + 16 + 18 * i }, name));
  });
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.setAttribute("aria-label", "Information kept at each level. " + lines.map(({ name, points }) =>
    `${name}: ${points.map(([epsilon, kept]) => `${(100 * kept).toFixed(0)} % at epsilon ${rounded(epsilon, 2, false)}`).join(", ")}.`).join(" "));
  picture.replaceChildren(...parts);
}
