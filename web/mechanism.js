// Mechanisms from the text of a mechanism.json, in exact integers (BigInt).
"use strict";

const MOST_INPUTS = 1000;

function natural(text) {
  if (typeof text !== "string" || !/^(0|[1-9][0-9]{0,3999})$/.test(text)) throw new Error("an integer is not written as one");
  return BigInt(text);
}

function labels(list) {
  if (!Array.isArray(list) || !list.length || !list.every((one) => typeof one === "string")) throw new Error("labels are missing");
  if (new Set(list).size !== list.length) throw new Error("two labels are the same");
  return list;
}

function columnOf(column, size) {
  if (column.dense) {
    if (column.dense.length !== size) throw new Error("a column has another number of entries than there are inputs");
    return column.dense.map(natural);
  }
  // Bit x of the hexadecimal number says whether input x has the high value.
  const low = natural(column.low), high = natural(column.high);
  if (!/^[0-9a-f]+$/.test(column.members)) throw new Error("the members of a column are not a number in base 16");
  const members = BigInt(`0x${column.members}`);
  if (members >> BigInt(size)) throw new Error("a column has more members than there are inputs");
  return Array.from({ length: size }, (_, x) => ((members >> BigInt(x)) & 1n ? high : low));
}

// {inputs, outputs, rows, denominators}: rows[x][y] over denominators[x]. Throws an Error that says what is wrong.
function readMechanism(text) {
  let file;
  try { file = JSON.parse(text); } catch { throw new Error("this is not a JSON file"); }
  if (!file || file.format !== "rropt-mechanism") throw new Error("this is not a mechanism.json that rropt wrote");
  return mechanismOf(file, file.inputs);
}

// The same of the object in a mechanism.json or in a certificate.
function mechanismOf(file, names) {
  const inputs = labels(names), outputs = labels(file.outputs ?? names), k = inputs.length;
  if (k > MOST_INPUTS || outputs.length > 10 * MOST_INPUTS) throw new Error(`it has more than ${MOST_INPUTS} answers`);
  if (file.family) throw new Error(`it names the family ${file.family}, and has no matrix`);
  const given = file.denominators.map(natural);
  let rows, groups = inputs.map((_, x) => x);
  if (file.off_diagonal) {
    if (outputs.length !== k || given.length !== 1) throw new Error("the numbers of inputs, outputs and denominators do not agree");
    const others = file.off_diagonal.map(natural);
    if (others.length !== 1 && others.length !== k) throw new Error("it has another number of rows than of inputs");
    rows = inputs.map((_, x) => {
      const other = others[others.length > 1 ? x : 0];
      return outputs.map((_, y) => (x === y ? given[0] - BigInt(k - 1) * other : other));
    });
  } else {
    // Inputs of one group have one row.
    groups = file.groups ?? groups;
    const size = Math.max(...groups) + 1, columns = file.columns.map((column) => columnOf(column, size));
    if (groups.length !== k || columns.length !== outputs.length) throw new Error("the numbers of rows or columns do not agree");
    if (given.length !== 1 && given.length !== size) throw new Error("it has another number of denominators than of rows");
    rows = groups.map((x) => columns.map((column) => column[x]));
  }
  return checked(inputs, outputs, rows, groups.map((x) => given[given.length > 1 ? x : 0]));
}

function checked(inputs, outputs, rows, denominators) {
  rows.forEach((row, x) => {
    if (row.some((n) => n < 0n)) throw new Error("a probability is negative");
    if (row.reduce((sum, n) => sum + n, 0n) !== denominators[x]) throw new Error(`row ${x + 1} does not sum to its denominator`);
  });
  return { inputs, outputs, rows, denominators };
}

// The probability as a float: the quotient of the leading 80 digits.
function probability(mechanism, x, y) {
  const n = mechanism.rows[x][y], d = mechanism.denominators[x];
  return Number((n << 120n) / d) / 2 ** 120;
}

// The largest ratio of two entries of a column, as [n, d]; null where an answer rules another one out.
function privacyRatio({ rows, denominators, outputs }) {
  let worst = [1n, 1n];
  for (let y = 0; y < outputs.length; y++) {
    let most = 0, least = 0;
    // a / b > c / e in integers: a e > c b.
    rows.forEach((row, x) => {
      if (row[y] * denominators[most] > rows[most][y] * denominators[x]) most = x;
      if (row[y] * denominators[least] < rows[least][y] * denominators[x]) least = x;
    });
    if (rows[most][y] === 0n) continue;
    if (rows[least][y] === 0n) return null;
    const n = rows[most][y] * denominators[least], d = rows[least][y] * denominators[most];
    if (n * worst[1] > worst[0] * d) worst = [n, d];
  }
  return worst;
}

function commonDivisor(a, b) { while (b) [a, b] = [b, a % b]; return a; }

// The rows as texts, over the least denominator of each: equal where the probabilities are.
function reducedRows({ rows, denominators }) {
  return rows.map((row, x) => {
    const unit = row.reduce(commonDivisor, denominators[x]);
    return row.map((n) => String(n / unit));
  });
}
