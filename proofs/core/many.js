// rropt-core.js on many proof files in one process of node: node many.js rropt-core.js. Each line of the input names a
// file and is answered by one line: the exit status, and what was printed last. Each file has a global object of its own.
const fs = require("fs"), vm = require("vm"), path = require("path")
const program = new vm.Script(fs.readFileSync(path.resolve(process.argv[2]), "utf8"))
const ended = new Error("the program has ended")

function verdict(file) {
  let printed = "", status
  const write = (text) => { printed += text }
  const exit = (code) => { status = code; throw ended }
  // The program leaves files open at its end, and as many as node may hold are soon reached.
  const opened = [], open = (...given) => opened[opened.push(fs.openSync(...given)) - 1]
  const needs = (name) => /^(node:)?fs$/.test(name) ? { ...fs, openSync: open } : require(name)
  const own = { ...process, argv: ["node", "rropt-core", file], on() {}, cwd: process.cwd, exit, stdout: { write }, stderr: { write } }
  try {
    program.runInContext(vm.createContext({ process: own, require: needs, console, Buffer }))
  } catch (fault) { if (fault !== ended) write("\n" + fault) }
  opened.forEach((file) => { try { fs.closeSync(file) } catch { /* the program has closed it */ } })
  return status + " " + printed.trimEnd().split("\n").pop()
}

require("readline").createInterface(process.stdin).on("line", (file) => { fs.writeSync(1, verdict(file) + "\n") })
