// Runs the extracted program in a worker. It is built for node: here its node is an object with one file in memory.
"use strict";

// The text of this function runs in the worker, before the program; it has no other names than its own.
function nodeOfProgram() {
  let data = new Uint8Array(), printed = "", read = 0;
  const over = { over: true };
  const file = {
    openSync: () => 3,
    closeSync: () => {},
    existsSync: () => true,
    fstatSync: () => ({ size: data.length }),
    statSync: () => ({ isDirectory: () => false }),
    readSync(_, buffer, at, count, from) {
      buffer.set(data.subarray(from, from + count), at);
      if (from + count > read) postMessage({ read: (read = from + count), size: data.length });
    },
  };
  const end = (status) => { postMessage({ status, printed }); throw over; };
  globalThis.Buffer = { from: (bytes) => bytes };
  globalThis.require = (name) => (name === "fs" ? file : { O_RDONLY: 0 });
  globalThis.process = {
    argv: ["node", "rropt-core", "/proof.core"], versions: { node: "0" }, env: {}, platform: "linux", cwd: () => "/", on() {},
    stdout: { write: (text) => { printed += text; } }, stderr: { write: (text) => { printed += text; } }, exit: end,
  };
  onmessage = (event) => {
    data = event.data;
    try { runProgram(); } catch (error) { if (error !== over) postMessage({ failed: String(error) }); }
  };
}

// The verdict on the bytes of a proof file: a promise of {status, printed}, and a way to cancel it.
function startCheck(bytes, progress) {
  const text = `${nodeOfProgram}\nfunction runProgram() {\n${coreText}\n}\nnodeOfProgram();\n`;
  const place = URL.createObjectURL(new Blob([text], { type: "text/javascript" })), worker = new Worker(place);
  let refuse;
  const verdict = new Promise((resolve, reject) => {
    refuse = reject;
    worker.onmessage = ({ data }) => {
      if (data.read !== undefined) progress(data.read / data.size);
      else if (data.failed) reject(new Error(`the program stopped: ${data.failed}`));
      else resolve(data);
    };
    worker.onerror = (event) => { event.preventDefault(); reject(new Error(`the program did not start: ${event.message}`)); };
    worker.postMessage(bytes);
  }).finally(() => { worker.terminate(); URL.revokeObjectURL(place); });
  return { verdict, cancel: () => refuse(new Error("cancelled")) };
}
