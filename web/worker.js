// The programs that judge, each in a worker: the extracted program on a proof file, and rropt on a certificate.
"use strict";

// The text of this function runs in a worker; it has no other names than its own and runProgram. It gives the function
// that runs the extracted program, which is built for node, on the bytes of a proof file: its node is an object with
// one file in memory.
function nodeOfProgram() {
  return (data, progress) => {
    let printed = "", read = 0, status = null;
    const over = { over: true };
    const file = {
      openSync: () => 3,
      closeSync: () => {},
      existsSync: () => true,
      fstatSync: () => ({ size: data.length }),
      statSync: () => ({ isDirectory: () => false }),
      readSync(_, buffer, at, count, from) {
        buffer.set(data.subarray(from, from + count), at);
        if (from + count > read) progress((read = from + count), data.length);
      },
    };
    const node = {
      Buffer: { from: (bytes) => bytes },
      require: (name) => (name === "fs" ? file : { O_RDONLY: 0 }),
      process: {
        argv: ["node", "rropt-core", "/proof.core"], versions: { node: "0" }, env: {}, platform: "linux", cwd: () => "/", on() {},
        stdout: { write: (text) => { printed += text; } }, stderr: { write: (text) => { printed += text; } },
        exit: (code) => { status = code; throw over; },
      },
    };
    Object.assign(globalThis, node);
    try { runProgram(); } catch (error) { if (error !== over) throw error; } finally { for (const name of Object.keys(node)) delete globalThis[name]; }
    return { status, printed };
  };
}

function coreWorker(runCore) {
  onmessage = ({ data }) => {
    try {
      postMessage({ verdict: runCore(data, (read, size) => postMessage({ stage: "core", share: read / size })) });
    } catch (error) { postMessage({ failed: String(error) }); }
  };
}

// Python asks for its two files over the network. Here they are in the script already, and nothing else is given.
function pythonWorker(runCore) {
  const bytesOf = (text) => {
    const letters = atob(text), bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
    return bytes;
  };
  const start = async ({ wasm, library, lock, sources }) => {
    const unpacked = new Blob([bytesOf(wasm)]).stream().pipeThrough(new DecompressionStream("gzip"));
    const files = {
      "pyodide.asm.wasm": new Response(unpacked, { headers: { "Content-Type": "application/wasm" } }),
      "python_stdlib.zip": new Response(bytesOf(library)),
    };
    globalThis.fetch = async (place) => files[String(place).split("/").at(-1)] ?? Response.error();
    const own = "http://localhost/";
    const python = await loadPyodide({ indexURL: own, packageBaseUrl: own, lockFileContents: lock, createPyodideModule });
    // Into the working folder, from which Python imports.
    for (const [name, text] of Object.entries(sources)) {
      if (name.includes("/")) python.FS.mkdirTree(name.slice(0, name.lastIndexOf("/")));
      python.FS.writeFile(name, text);
    }
    const judge = python.pyimport("judge");
    const core = (proof) => runCore(proof.toJs(), (read, size) => postMessage({ stage: "core", share: read / size })).printed;
    return (given) => {
      const files = python.toPy(new Map());
      for (const [name, bytes] of given) files.set(name, python.globals.get("bytes")(python.toPy(bytes)));
      try { return judge.judged(files, core); } finally { files.destroy(); }
    };
  };
  let judged;
  onmessage = async ({ data }) => {
    try {
      if (data.python) { judged = start(data.python); await judged; return; }
      postMessage({ stage: "python" });
      const judge = await judged;
      postMessage({ stage: "checker" });
      postMessage({ verdict: JSON.parse(judge(data.files)) });
    } catch (error) { postMessage({ failed: String(error.message ?? error).trim().split("\n").at(-1) }); }
  };
}

function newWorker(body, before = "") {
  const text = `${before}\n(${body})((${nodeOfProgram})());\nfunction runProgram() {\n${coreText}\n}\n`;
  const place = URL.createObjectURL(new Blob([text], { type: "text/javascript" })), worker = new Worker(place);
  worker.place = place;
  return worker;
}

function endWorker(worker) { worker.terminate(); URL.revokeObjectURL(worker.place); }

// What a worker says to a message: a promise of its verdict, and a way to cancel it.
function asked(worker, message, progress, ended) {
  let refuse;
  const verdict = new Promise((resolve, reject) => {
    refuse = reject;
    worker.onmessage = ({ data }) => {
      if (data.stage) progress(data.stage, data.share);
      else if (data.failed) reject(new Error(`the program stopped: ${data.failed}`));
      else resolve(data.verdict);
    };
    worker.onerror = (event) => { event.preventDefault(); reject(new Error(`the program did not start: ${event.message}`)); };
    worker.postMessage(message);
  }).then((found) => { ended(false); return found; }, (error) => { ended(true); throw error; });
  return { verdict, cancel: () => refuse(new Error("cancelled")) };
}

// The verdict on the bytes of a proof file: {status, printed}.
function startProof(bytes, progress) {
  const worker = newWorker(coreWorker);
  return asked(worker, bytes, progress, () => endWorker(worker));
}

let pythonScript, pythonStarted = null;  // its worker serves all certificates, until one fails or is cancelled

// The script of data/ calls this.
function addPython(found) { pythonScript = found; }

// A promise of the worker with Python.
function startPython() {
  pythonStarted ??= (pythonScript ? Promise.resolve() : loadScript("data/python.js")).then(() => {
    const { script, ...python } = pythonScript, worker = newWorker(pythonWorker, script);
    worker.postMessage({ python });
    return worker;
  });
  pythonStarted.catch(() => { pythonStarted = null; });
  return pythonStarted;
}

// The verdict on files, a list of [path, bytes]: what judge.py says.
function startCertificate(files, progress) {
  let own = null, cancelled = false, refuse;
  const stopped = new Promise((_, reject) => { refuse = () => reject(new Error("cancelled")); });
  progress("python");
  const found = startPython().then((worker) => {
    if (cancelled) throw new Error("cancelled");
    own = asked(worker, { files }, progress, (failed) => { if (failed) { endWorker(worker); pythonStarted = null; } });
    return own.verdict;
  });
  return { verdict: Promise.race([found, stopped]), cancel: () => { cancelled = true; refuse(); own?.cancel(); } };
}
